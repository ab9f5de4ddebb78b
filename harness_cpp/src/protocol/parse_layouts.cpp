#include "protocol/parse_layouts.hpp"

namespace cudaopt::protocol {
namespace {

constexpr std::uint64_t kMostStructBytes = 32764;

std::vector<std::string> parse_types(const Value& value) {
  std::vector<std::string> types;
  for (const Value& type : value.array()) types.push_back(type.nonempty_text());
  if (types.empty()) value.reject("at least one type");
  return types;
}

MemberSpec parse_member(Object object) {
  MemberSpec member;
  member.name = object.need("name").nonempty_text();
  member.offset = object.need("offset").natural(kMostStructBytes);
  member.types = parse_types(object.need("types"));
  object.reject_unknown_keys();
  return member;
}

StructSpec parse_struct(Object object) {
  StructSpec spec;
  spec.name = object.need("name").nonempty_text();
  spec.bytes = object.need("bytes").natural(kMostStructBytes);
  for (const Value& value : object.need("members").array()) {
    spec.members.push_back(parse_member(value.object()));
  }
  object.reject_unknown_keys();
  return spec;
}

SymbolSpec parse_symbol(Object object) {
  SymbolSpec spec;
  spec.name = object.need("name").nonempty_text();
  spec.types = parse_types(object.need("types"));
  object.reject_unknown_keys();
  return spec;
}

}  // namespace

void parse_layouts(Object& module, ModuleSpec& spec) {
  if (const auto structs = module.find("structs")) {
    for (const Value& value : structs->array())
      spec.structs.push_back(parse_struct(value.object()));
  }
  if (const auto symbols = module.find("symbols")) {
    for (const Value& value : symbols->array())
      spec.symbols.push_back(parse_symbol(value.object()));
  }
}

}  // namespace cudaopt::protocol
