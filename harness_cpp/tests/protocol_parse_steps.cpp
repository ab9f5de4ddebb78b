// The program of a request: one step of each kind, and what is refused.
#include "check.hpp"
#include "protocol/parse_steps.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

namespace {

std::vector<Step> steps_of(const std::string& steps) {
  const Document document(
      R"({"protocol": 1, "device": "sim", "nonce": "n1", "modules": [{"name": "m"}],
          "buffers": [{"name": "x", "bytes": 8}, {"name": "y", "bytes": 8}, {"name": "z", "bytes": 4}],
          "steps": [)" +
          steps + "]}",
      "request");
  return parse_request(document, "").steps;
}

void check_refused(const std::string& step, const std::string& words) {
  std::string message = "accepted";
  try {
    (void)steps_of(step);
  } catch (const Fault& fault) {
    message = fault.what();
  }
  if (message.find(words) == std::string::npos) throw check::Failure("not in: " + message);
}

std::string launch_with(const std::string& part) {
  return R"({"do": "launch", "module": "m", "entry": "k", )" + part + "}";
}

constexpr const char* kShape = R"("grid": [2, 1, 1], "block": [32, 1, 1], )";

}  // namespace

TEST("every kind of step is read") {
  const auto steps = steps_of(R"({"do": "compile", "module": "m"}, {"do": "load", "module": "m"},
      {"do": "reload", "module": "m"}, {"do": "fill", "buffer": "x", "pattern": "00"},
      {"do": "copy", "from": "x", "to": "y"}, {"do": "write", "buffer": "x", "file": "f"},
      {"do": "read", "buffer": "x", "file": "x.n1.bin"}, {"do": "read_guards", "buffer": "x"},
      {"do": "digest", "buffer": "x"}, {"do": "limits"}, {"do": "reset"},
      {"do": "reset", "poison": "f97f"})");
  CHECK_EQUAL(12u, steps.size());
  CHECK(std::get<LoadStep>(steps[2]).again);
  CHECK_EQUAL(std::string("y"), std::get<CopyStep>(steps[4]).to);
  CHECK(!std::get<ResetStep>(steps[10]).poison);
  CHECK_EQUAL(0x7fu, std::get<ResetStep>(steps[11]).poison->at(1));
}

TEST("a launch carries its shape and its arguments") {
  const auto steps = steps_of(launch_with(std::string(kShape) + R"("shared_bytes": 64, "arguments":
      [{"buffer": "x"}, {"null": true}, {"scalar": "f32", "value": "0000803f"}])"));
  const LaunchSpec& launch = std::get<LaunchStep>(steps[0]).launch;
  CHECK_EQUAL(2u, launch.grid.x);
  CHECK_EQUAL(64u, launch.shared_bytes);
  CHECK(launch.arguments.at(1).kind == Argument::Kind::null);
  CHECK_EQUAL(0x3fu, launch.arguments.at(2).bytes.at(3));
}

TEST("a step that names what nobody declared, or says too much, is refused at its path") {
  check_refused(R"({"do": "lanch"})", "request.steps[0].do: expected one of");
  check_refused(R"({"do": "load", "module": "n"})",
                "request.steps[0].module: expected the name of a module");
  check_refused(R"({"do": "digest", "buffer": "w"})",
                "request.steps[0].buffer: expected the name of a buffer");
  check_refused(R"({"do": "copy", "from": "x", "to": "z"})", "a buffer of 8 bytes");
  check_refused(R"({"do": "fill", "buffer": "x", "pattern": ""})", "at least one byte");
  check_refused(R"({"do": "reset", "poison": ""})",
                "request.steps[0].poison: expected at least one");
  check_refused(R"({"do": "reset", "buffer": "x"})", "unknown key \"buffer\"");
  check_refused(R"({"do": "read", "buffer": "x", "file": "x.n1.bin", "if_changed": 1})",
                "true or false");
  check_refused(R"({"do": "read", "buffer": "x", "file": "x.bin"})", "contains the nonce \"n1\"");
  check_refused(R"({"do": "compare_digest", "buffer": "x", "sha256": "00"})", "64 lower-case");
  check_refused(R"({"do": "limits", "buffer": "x"})", "unknown key \"buffer\"");
}

TEST("a launch that is not one is refused at its path") {
  check_refused(launch_with(R"("block": [1,1,1], "arguments": [])"), "the key \"grid\" is missing");
  check_refused(launch_with(R"("grid": [1,1], "block": [1,1,1], "arguments": [])"),
                "three integers");
  const auto with_argument = [](const std::string& argument) {
    return launch_with(std::string(kShape) + "\"arguments\": [" + argument + "]");
  };
  check_refused(with_argument("{}"), "request.steps[0].arguments[0]: expected exactly one of");
  check_refused(with_argument(R"({"buffer": "w"})"), "Declare it in request.buffers");
  check_refused(with_argument(R"({"scalar": "f32", "value": "00"})"),
                "8 hexadecimal digits for f32");
  check_refused(with_argument(R"({"scalar": "float", "value": "00"})"), "expected one of \"bool\"");
  check_refused(with_argument(R"({"buffer": "x", "value": "00"})"), "unknown key \"value\"");
}

TEST("a launch carries its attributes, and has none if it says nothing") {
  const auto read = [](const std::string& more) {
    const auto steps = steps_of(launch_with(std::string(kShape) + more + "\"arguments\": []"));
    return std::get<LaunchStep>(steps[0]).launch;
  };
  const LaunchSpec with = read(R"("cluster": [2, 4, 1], "cooperative": true, )");
  CHECK(with.cluster && with.cooperative);
  CHECK_EQUAL(4u, with.cluster->y);
  const LaunchSpec without = read("");
  CHECK(!without.cluster && !without.cooperative);
}

TEST("attributes that are none are refused at their path") {
  const auto with = [](const std::string& more) {
    return launch_with(std::string(kShape) + more + ", \"arguments\": []");
  };
  check_refused(with("\"cluster\": [2, 1]"), "cluster: expected three integers");
  check_refused(with("\"cooperative\": 1"), "cooperative");
}

TEST("a struct carries its members at their offsets") {
  const auto steps = steps_of(launch_with(std::string(kShape) + R"("arguments":
      [{"struct": [{"offset": 0, "buffer": "x"}, {"offset": 8, "null": true},
                   {"offset": 16, "scalar": "i32", "value": "07000000"}], "bytes": 24}])"));
  const Argument& whole = std::get<LaunchStep>(steps[0]).launch.arguments.at(0);
  CHECK(whole.kind == Argument::Kind::structure);
  CHECK_EQUAL(24u, whole.bytes.size());
  CHECK_EQUAL(std::string("x"), whole.members.at(0).buffer);
  CHECK(whole.members.at(1).kind == Argument::Kind::null);
  CHECK_EQUAL(16u, whole.members.at(2).offset);
}

TEST("a struct that is not one is refused at its path") {
  const auto with_struct = [](const std::string& members, const char* bytes = "8") {
    return launch_with(std::string(kShape) + R"("arguments": [{"struct": [)" + members +
                       "], \"bytes\": " + bytes + "}]");
  };
  check_refused(with_struct(""), "request.steps[0].arguments[0].struct: expected at least one");
  check_refused(with_struct(R"({"buffer": "x"})"), "the key \"offset\" is missing");
  check_refused(with_struct(R"({"offset": 4, "buffer": "x"})"), "a member of 8 bytes within");
  check_refused(
      with_struct(R"({"offset": 0, "struct": [{"offset": 0, "buffer": "x"}], "bytes": 8})"),
      "no struct within a struct");
  check_refused(with_struct(R"({"offset": 0, "buffer": "x"})", "99999"), "32764");
  check_refused(launch_with(std::string(kShape) + R"("arguments": [{"buffer": "x", "offset": 0}])"),
                "unknown key \"offset\"");
}

TEST("a launch says which variables become what buffers hold") {
  const std::string start = std::string(kShape) + R"("arguments": [], "symbols": )";
  const auto steps = steps_of(launch_with(start + R"([{"symbol": "ns::taps", "buffer": "x"}])"));
  const SymbolWrite& write = std::get<LaunchStep>(steps[0]).launch.symbols.at(0);
  CHECK_EQUAL(std::string("ns::taps"), write.symbol);
  CHECK_EQUAL(std::string("x"), write.buffer);
  check_refused(launch_with(start + R"([{"symbol": "taps", "buffer": "w"}])"),
                "request.steps[0].symbols[0].buffer: expected the name of a buffer");
  check_refused(launch_with(start + R"([{"symbol": "", "buffer": "x"}])"), "symbol: expected");
}
