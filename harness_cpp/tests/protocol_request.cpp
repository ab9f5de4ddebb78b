// Modules and buffers of a request.
#include "check.hpp"
#include "protocol/request.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

namespace {

// A request whose given part replaces nothing but adds keys.
Request parsed(const std::string& part) {
  const Document document(R"({"protocol": 1, "device": "sim", "steps": [])" + part + "}",
                          "request");
  return parse_request(document, "/requests");
}

std::string refusal_of(const std::string& part) {
  try {
    (void)parsed(part);
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::invalid_request);
    return fault.what();
  }
  return "accepted";
}

void check_refused(const std::string& part, const std::string& words) {
  const std::string message = refusal_of(part);
  if (message.find(words) == std::string::npos) throw check::Failure("not in: " + message);
}

}  // namespace

TEST("what a request leaves out has the protocol's defaults") {
  const Request request =
      parsed(R"(, "modules": [{"name": "m"}], "buffers": [{"name": "x", "bytes": 8}])");
  CHECK_EQUAL(std::string("/requests"), request.directory);
  CHECK_EQUAL(0.0, request.timeout_s);
  CHECK_EQUAL(std::string("h200"), request.sim.model);
  CHECK_EQUAL(std::string("m.cu"), request.modules.at(0).file);
  CHECK_EQUAL(std::string("sm_90"), request.modules.at(0).architecture);
  CHECK(request.buffers.at(0).spec.access == Access::read_write);
  CHECK_EQUAL(1u, request.buffers.at(0).spec.element_bytes);
}

TEST("every key of a module is read") {
  const Request request = parsed(R"(, "modules": [{"name": "m", "file": "f.cu", "source": "s",
      "options": ["-DN=1"], "include": ["/i"], "headers": {"h.h": "text"}, "architecture": "sm_90a",
      "entries": [{"name": "k<1>", "parameters": [["long long", "long"], ["float*"]]}, {"name": "j"}],
      "ptx_file": "p", "cubin_file": "c", "lowered": {"k<1>": "_Zk"},
      "resources": {"_Zk": {"registers": 32}}}])");
  const ModuleSpec& module = request.modules.at(0);
  CHECK_EQUAL(std::string("long"), module.entries.at(0).parameters->at(0).at(1));
  CHECK(!module.entries.at(1).parameters);
  CHECK_EQUAL(std::string("text"), module.headers.at("h.h"));
  CHECK_EQUAL(std::string("_Zk"), module.lowered.at("k<1>"));
  CHECK_EQUAL(32u, module.resources.at("_Zk").registers);
}

TEST("every key of a buffer is read") {
  const Request request = parsed(R"(, "buffers": [
      {"name": "x", "bytes": 8, "access": "read", "element_bytes": 4, "offset_bytes": 2,
       "guard_bytes": 16, "initial_file": "x.bin", "poison": "dead"},
      {"name": "y", "bytes": 8, "alias": "x"}])");
  const BufferEntry& x = request.buffers.at(0);
  CHECK(x.spec.access == Access::read);
  CHECK_EQUAL(2u, x.spec.offset_bytes);
  CHECK_EQUAL(16u, x.spec.guard_bytes);
  CHECK_EQUAL(0xadu, x.spec.poison.at(1));
  CHECK_EQUAL(std::string("x"), request.buffers.at(1).spec.alias);
}

TEST("a buffer of tiles names their file") {
  const Request request =
      parsed(R"(, "buffers": [{"name": "x", "bytes": 8, "access": "read", "tile_file": "t.bin"}])");
  CHECK_EQUAL(std::string("t.bin"), *request.buffers.at(0).tile_file);
  CHECK(!request.buffers.at(0).initial_file);
}

TEST("a buffer of tiles is only read, and has no other contents") {
  check_refused(R"(, "buffers": [{"name": "x", "bytes": 4, "tile_file": "t.bin"}])",
                "request.buffers[0].tile_file: expected \"access\": \"read\"");
  check_refused(R"(, "buffers": [{"name": "x", "bytes": 4, "access": "read", "tile_file": "t.bin",
                                 "initial_file": "x.bin"}])",
                "request.buffers[0].initial_file");
  check_refused(R"(, "buffers": [{"name": "x", "bytes": 4}, {"name": "y", "bytes": 4, "alias": "x",
                                 "access": "read", "tile_file": "t.bin"}])",
                "request.buffers[1].tile_file");
}

TEST("a request of another protocol version is refused") {
  const Document document(R"({"protocol": 2, "device": "sim", "steps": []})", "request");
  CHECK_THROWS(Fault, parse_request(document, ""));
}

TEST("what a module may not say is refused at its path") {
  check_refused(R"(, "moduls": [])", "Did you mean \"modules\"?");
  check_refused(R"(, "modules": [{"name": "m"}, {"name": "m"}])",
                "request.modules[1].name: expected a name");
  check_refused(R"(, "modules": [{"name": "m", "source": "a", "source_file": "b"}])", "not both");
  check_refused(R"(, "modules": [{"name": "m", "architecture": "compute_90"}])", "\"sm_90\"");
  check_refused(R"(, "modules": [{"name": "m", "entries": [{"name": "k", "parameters": [[]]}]}])",
                "request.modules[0].entries[0].parameters[0]: expected at least one type");
}

TEST("what a buffer may not say is refused at its path") {
  check_refused(R"(, "buffers": [{"name": "x"}])",
                "request.buffers[0]: the key \"bytes\" is missing");
  check_refused(R"(, "buffers": [{"name": "x", "bytes": -4}])",
                "request.buffers[0].bytes: expected an integer");
  check_refused(R"(, "buffers": [{"name": "x", "bytes": 4, "access": "rw"}])",
                "request.buffers[0].access");
  check_refused(R"(, "buffers": [{"name": "x", "bytes": 4, "alias": "x"}])", "an earlier buffer");
  check_refused(
      R"(, "buffers": [{"name": "x", "bytes": 4}, {"name": "y", "bytes": 4, "alias": "x", "poison": "00"}])",
      "request.buffers[1].poison");
  check_refused(R"(, "sim": {"thread": 2})", "Did you mean \"threads\"?");
}
