// The steps that time launches: their defaults, their keys, and what is refused.
#include "check.hpp"
#include "protocol/parse_steps.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

namespace {

constexpr const char* kLaunch =
    R"("module": "m", "entry": "k", "grid": [1,1,1], "block": [1,1,1], "arguments": [])";

Step step_of(const std::string& step) {
  const Document document(
      R"({"protocol": 1, "device": "sim", "nonce": "n1", "modules": [{"name": "m"}],
          "buffers": [{"name": "x", "bytes": 8}, {"name": "y", "bytes": 8},
                      {"name": "z", "bytes": 8, "alias": "x"}],
          "steps": [)" +
          step + "]}",
      "request");
  return parse_request(document, "").steps.at(0);
}

std::string measure_text(const std::string& keys) {
  return std::string(R"({"do": "measure", )") + kLaunch + keys + "}";
}

MeasureStep measure_of(const std::string& keys) {
  return std::get<MeasureStep>(step_of(measure_text(keys)));
}

std::string arm() { return std::string("{") + kLaunch + "}"; }

std::string interleave_text(const std::string& arms, const std::string& keys) {
  return R"({"do": "interleave", "arms": [)" + arms + "]" + keys + "}";
}

InterleaveSpec interleave_of(const std::string& keys) {
  return std::get<InterleaveStep>(step_of(interleave_text(arm() + "," + arm(), keys))).spec;
}

void check_refused(const std::string& step, const std::string& words) {
  std::string message = "accepted";
  try {
    (void)step_of(step);
  } catch (const Fault& fault) {
    message = fault.what();
  }
  if (message.find(words) == std::string::npos) throw check::Failure("not in: " + message);
}

}  // namespace

TEST("a measurement has the protocol's defaults unless it says otherwise") {
  const MeasureStep step = measure_of("");
  CHECK_EQUAL(std::string("k"), step.launch.entry);
  CHECK_EQUAL(10, step.how.warmup.launches);
  CHECK_EQUAL(25.0, step.how.warmup.ms);
  CHECK_EQUAL(100, step.how.samples);
  CHECK_EQUAL(0.0, step.how.relative_error);
  CHECK_EQUAL(10000, step.how.max_samples);
  CHECK(step.how.mode == SamplingMode::automatic);
  CHECK(step.contents.empty() && !step.held_out && step.capture.empty());
}

TEST("a measurement says how long, how often, how exactly and in which mode") {
  const MeasureSpec how = measure_of(R"(, "warmup": 0, "warmup_ms": 0.5, "samples": 5,
      "relative_error": 0.01, "max_samples": 7, "mode": "batch")")
                              .how;
  CHECK_EQUAL(0, how.warmup.launches);
  CHECK_EQUAL(0.5, how.warmup.ms);
  CHECK_EQUAL(5, how.samples);
  CHECK_EQUAL(0.01, how.relative_error);
  CHECK_EQUAL(7, how.max_samples);
  CHECK(how.mode == SamplingMode::batch);
  CHECK(measure_of(R"(, "mode": "cold")").how.mode == SamplingMode::cold);
}

TEST("more samples than the default maximum raise it") {
  CHECK_EQUAL(20000, measure_of(R"(, "samples": 20000)").how.max_samples);
}

TEST("counters by line are asked for by name") {
  CHECK(!measure_of("").how.by_line);
  CHECK(measure_of(R"(, "by_line": true)").how.by_line);
  check_refused(measure_text(R"(, "by_line": 1)"), "request.steps[0].by_line");
}

TEST("contents, held-out contents and captured outputs are read in order") {
  const MeasureStep step =
      measure_of(R"(, "contents": [{"x": "x1.bin"}, {"x": "x2.bin", "y": "y.bin"}],
      "held_out": {"x": "x3.bin"}, "capture": [{"buffer": "y", "file": "y.n1.bin"}])");
  CHECK_EQUAL(2u, step.contents.size());
  CHECK_EQUAL(std::string("y.bin"), step.contents[1].at("y"));
  CHECK_EQUAL(std::string("x3.bin"), step.held_out->at("x"));
  CHECK_EQUAL(std::string("y.n1.bin"), step.capture.at(0).file);
  CHECK_EQUAL(std::string("y"), step.how.capture.at(0));
}

TEST("a measurement that cannot be made is refused at its path") {
  const auto refused = [](const std::string& keys, const std::string& words) {
    check_refused(measure_text(keys), words);
  };
  refused(R"(, "samples": 0)", "request.steps[0].samples: expected at least 1 sample");
  refused(R"(, "warmup": -1)", "request.steps[0].warmup");
  refused(R"(, "warmup_ms": -1)", "request.steps[0].warmup_ms");
  refused(R"(, "relative_error": 1)", "a share of the median below 1");
  refused(R"(, "samples": 9, "max_samples": 8)", "at least \"samples\", which is 9");
  refused(R"(, "mode": "hot")", "expected one of \"auto\"");
  refused(R"(, "contents": {"x": "x1.bin"})", "request.steps[0].contents");
  refused(R"(, "contents": [{}, {"w": "f"}])", "request.steps[0].contents[1]: expected buffers by");
  refused(R"(, "contents": [{"x": ""}])",
          "request.steps[0].contents[0][\"x\"]: expected a string that is not");
  refused(R"(, "held_out": {"z": "f"})", "no contents of the alias \"z\"");
  refused(R"(, "capture": [{"buffer": "w", "file": "n1"}])",
          "request.steps[0].capture[0].buffer: expected the name of a buffer");
  refused(R"(, "capture": [{"buffer": "y", "file": "y.bin"}])", "contains the nonce \"n1\"");
  refused(R"(, "capture": [{"buffer": "y", "file": "n1", "at": 3}])", "unknown key \"at\"");
  refused(R"(, "blocks": 3)", "unknown key \"blocks\"");
}

TEST("interleaving has its defaults, and its own counts") {
  const InterleaveSpec spec = interleave_of("");
  CHECK_EQUAL(2u, spec.arms.size());
  CHECK_EQUAL(std::string("k"), spec.arms[1].entry);
  CHECK_EQUAL(20, spec.blocks);
  CHECK_EQUAL(10, spec.launches);
  CHECK_EQUAL(25.0, spec.warmup.ms);
  CHECK(spec.mode == SamplingMode::automatic);
  const InterleaveSpec other =
      interleave_of(R"(, "blocks": 3, "launches": 4, "warmup": 5, "warmup_ms": 6, "mode": "cold")");
  CHECK_EQUAL(3, other.blocks);
  CHECK_EQUAL(4, other.launches);
  CHECK_EQUAL(5, other.warmup.launches);
  CHECK_EQUAL(6.0, other.warmup.ms);
  CHECK(other.mode == SamplingMode::cold);
}

TEST("interleaving fewer than two arms, too many, or none of anything, is refused") {
  const std::string two = arm() + "," + arm();
  check_refused(interleave_text(arm(), ""), "request.steps[0].arms: expected at least 2 launches");
  std::string many = two;
  for (int i = 0; i < 99; ++i) many += "," + arm();
  check_refused(interleave_text(many, ""), "at most 100 launches");
  check_refused(interleave_text(two, R"(, "blocks": 0)"), "at least 1 block");
  check_refused(interleave_text(two, R"(, "launches": 0)"), "at least 1 launch");
  check_refused(interleave_text(two, R"(, "samples": 3)"), "unknown key \"samples\"");
  check_refused(interleave_text(arm() + R"(, {"module": "m"})", ""),
                "request.steps[0].arms[1]: the key \"entry\" is missing");
  check_refused(interleave_text(arm() + ", {" + kLaunch + R"(, "do": "launch"})", ""),
                "request.steps[0].arms[1]: unknown key \"do\"");
}
