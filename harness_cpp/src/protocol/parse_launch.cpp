#include "protocol/parse_launch.hpp"

#include "protocol/declared.hpp"

namespace cudaopt::protocol {
namespace {

constexpr std::uint64_t kAny32 = 0xffffffffu;
constexpr std::uint64_t kMostStructBytes = 32764;  // what a kernel can take in all

struct ScalarType {
  const char* name;
  std::size_t bytes;
};
constexpr ScalarType kScalarTypes[] = {{"bool", 1}, {"i8", 1},     {"u8", 1},    {"i16", 2},
                                       {"u16", 2},  {"i32", 4},    {"u32", 4},   {"i64", 8},
                                       {"u64", 8},  {"f16", 2},    {"bf16", 2},  {"f32", 4},
                                       {"f64", 8},  {"f8e4m3", 1}, {"f8e5m2", 1}};

Dim3 parse_extents(const Value& value) {
  const std::vector<Value> parts = value.array();
  if (parts.size() != 3) value.reject("three integers [x, y, z]");
  const auto part = [&](std::size_t i) {
    return static_cast<std::uint32_t>(parts[i].natural(kAny32));
  };
  return {part(0), part(1), part(2)};
}

void read_scalar(const Value& dtype, const Value& value, Argument& argument) {
  std::vector<std::string> names;
  for (const ScalarType& type : kScalarTypes) names.emplace_back(type.name);
  const ScalarType& type = kScalarTypes[dtype.one_of(names)];
  argument.kind = Argument::Kind::scalar;
  argument.dtype = type.name;
  argument.bytes = value.hex();
  if (argument.bytes.size() != type.bytes) {
    value.reject(std::to_string(2 * type.bytes) + " hexadecimal digits for " + type.name);
  }
}

Argument parse_argument(Object object, const Request& request);

// A struct is of no use without a member, and a member may not reach over its end.
void read_struct(const Value& members, const Value& bytes, const Request& request,
                 Argument& argument) {
  argument.kind = Argument::Kind::structure;
  argument.bytes.resize(bytes.natural(kMostStructBytes));
  for (const Value& value : members.array()) {
    Object object = value.object();
    const Value offset = object.need("offset");
    Argument member = parse_argument(object, request);
    if (member.kind == Argument::Kind::structure) value.reject("no struct within a struct");
    const std::size_t size =
        member.kind == Argument::Kind::scalar ? member.bytes.size() : sizeof(std::uint64_t);
    member.offset = static_cast<std::uint32_t>(offset.natural(kMostStructBytes));
    if (member.offset + size > argument.bytes.size()) {
      offset.reject("a member of " + std::to_string(size) + " bytes within the struct's " +
                    std::to_string(argument.bytes.size()));
    }
    argument.members.push_back(std::move(member));
  }
  if (argument.members.empty()) members.reject("at least one member");
}

Argument parse_argument(Object object, const Request& request) {
  Argument argument;
  const auto structure = object.find("struct");
  const auto buffer = object.find("buffer");
  const auto null = object.find("null");
  const auto scalar = object.find("scalar");
  if ((buffer ? 1 : 0) + (null ? 1 : 0) + (scalar ? 1 : 0) + (structure ? 1 : 0) != 1) {
    throw Fault(FaultKind::invalid_request,
                object.path() +
                    ": expected exactly one of \"buffer\", \"null\", \"scalar\" and \"struct\".");
  }
  if (structure) {
    read_struct(*structure, object.need("bytes"), request, argument);
  } else if (buffer) {
    argument.kind = Argument::Kind::buffer;
    argument.buffer = buffer_named(*buffer, request).name;
  } else if (null) {
    if (!null->boolean()) null->reject("true");
  } else {
    read_scalar(*scalar, object.need("value"), argument);
  }
  object.reject_unknown_keys();
  return argument;
}

SymbolWrite parse_symbol(Object object, const Request& request) {
  SymbolWrite write;
  write.symbol = object.need("symbol").nonempty_text();
  write.buffer = buffer_named(object.need("buffer"), request).name;
  object.reject_unknown_keys();
  return write;
}

CheckSpec parse_checks(Object object) {
  CheckSpec checks;
  const auto read = [&](const char* key, bool& to) {
    if (const auto value = object.find(key)) to = value->boolean();
  };
  read("accesses", checks.accesses);
  read("rounding", checks.rounding);
  read("touched", checks.touched);
  object.reject_unknown_keys();
  return checks;
}

Order parse_order(const Value& kind, const std::optional<Value>& seed) {
  Order order;
  order.kind = static_cast<Order::Kind>(kind.one_of({"forward", "reverse", "random"}));
  if (seed) order.seed = seed->natural(kAny32);
  return order;
}

}  // namespace

LaunchSpec parse_launch(Object& step, const Request& request) {
  LaunchSpec spec;
  spec.module = module_named(step.need("module"), request);
  spec.entry = step.need("entry").nonempty_text();
  spec.grid = parse_extents(step.need("grid"));
  spec.block = parse_extents(step.need("block"));
  if (const auto shared = step.find("shared_bytes")) {
    spec.shared_bytes = static_cast<std::uint32_t>(shared->natural(kAny32));
  }
  if (const auto cluster = step.find("cluster")) spec.cluster = parse_extents(*cluster);
  if (const auto cooperative = step.find("cooperative")) spec.cooperative = cooperative->boolean();
  if (const auto checks = step.find("checks")) spec.checks = parse_checks(checks->object());
  const auto seed = step.find("order_seed");
  if (const auto order = step.find("order")) spec.order = parse_order(*order, seed);
  for (const Value& value : step.need("arguments").array()) {
    spec.arguments.push_back(parse_argument(value.object(), request));
  }
  if (const auto symbols = step.find("symbols")) {
    for (const Value& value : symbols->array()) {
      spec.symbols.push_back(parse_symbol(value.object(), request));
    }
  }
  return spec;
}

}  // namespace cudaopt::protocol
