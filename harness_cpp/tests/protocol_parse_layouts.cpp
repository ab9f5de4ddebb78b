// Structs and variables that a module declares.
#include "check.hpp"
#include "protocol/request.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

namespace {

ModuleSpec module_with(const std::string& keys) {
  const Document document(
      R"({"protocol": 1, "device": "sim", "steps": [], "modules": [{"name": "m", )" + keys + "}]}",
      "request");
  return parse_request(document, "").modules.at(0);
}

void check_refused(const std::string& keys, const std::string& words) {
  std::string message = "accepted";
  try {
    (void)module_with(keys);
  } catch (const Fault& fault) {
    message = fault.what();
  }
  if (message.find(words) == std::string::npos) throw check::Failure("not in: " + message);
}

}  // namespace

TEST("every key of a struct and of a variable is read") {
  const ModuleSpec module = module_with(R"("structs": [{"name": "ns::P", "bytes": 16,
      "members": [{"name": "n", "offset": 8, "types": ["long long", "long"]}]}],
      "symbols": [{"name": "ns::taps", "types": ["float"]}])");
  const StructSpec& of = module.structs.at(0);
  CHECK_EQUAL(std::string("ns::P"), of.name);
  CHECK_EQUAL(16u, of.bytes);
  CHECK_EQUAL(8u, of.members.at(0).offset);
  CHECK_EQUAL(std::string("long"), of.members.at(0).types.at(1));
  CHECK_EQUAL(std::string("ns::taps"), module.symbols.at(0).name);
  CHECK_EQUAL(std::string("float"), module.symbols.at(0).types.at(0));
}

TEST("what is missing or unknown in them is refused at its path") {
  check_refused(R"("structs": [{"name": "P", "bytes": 8}])", "the key \"members\" is missing");
  check_refused(R"("structs": [{"name": "P", "bytes": 8, "members": [{"name": "n", "offset": 0,
      "types": []}]}])",
                "request.modules[0].structs[0].members[0].types: expected at least one type");
  check_refused(R"("symbols": [{"name": "taps"}])", "the key \"types\" is missing");
  check_refused(R"("symbols": [{"name": "taps", "types": ["float"], "bytes": 4}])",
                "unknown key \"bytes\"");
}
