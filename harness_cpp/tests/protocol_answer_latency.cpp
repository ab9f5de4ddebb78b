// Modelled, measured and interleaved times as text.
#include <limits>
#include <nlohmann/json.hpp>

#include "check.hpp"
#include "protocol/answer.hpp"
#include "protocol/answer_latency.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Sampling sampling(double median_ns, const std::vector<double>& samples_ns) {
  Sampling made;
  made.median_ns = median_ns;
  made.samples_ns = samples_ns;
  return made;
}

Measurement cold_only() {
  Measurement measurement;
  measurement.kind = Measurement::Kind::measured;
  measurement.median_ns = 1.5;
  Timing timing;
  timing.cold = sampling(1.5, {1, 2});
  timing.warmup_launches = 12;
  timing.tick_ns = 32;
  timing.sm_clock_mhz = {1980};
  measurement.timing = timing;
  return measurement;
}

Measurement both_modes() {
  Measurement measurement = cold_only();
  measurement.median_ns = 0.75;
  Timing& timing = *measurement.timing;
  timing.mode = SamplingMode::batch;
  timing.batch = sampling(0.75, {0.5, 1});
  timing.batch->launches = 200;
  timing.batch->copies = 8;
  timing.batch->floor_ns = 0.25;
  timing.contents = 3;
  timing.captured = Captured{SamplingMode::cold, 1, {}};
  timing.notes = {"hot"};
  return measurement;
}

}  // namespace

TEST("a modelled latency has the model's terms in the model's order") {
  Measurement measurement;
  measurement.median_ns = 1.5;
  measurement.bound = "dram";
  measurement.terms_ns = {{"launch", 1.0}, {"dram", 0.5}};
  const std::string text = members_of(measurement).dump();
  CHECK_EQUAL(
      0u,
      text.find(
          R"({"kind":"modelled","latency":{"median_ns":1.5,"bound":"dram","terms_ns":{"launch":1.0,"dram":0.5})"));
}

TEST("counters by line are those that are not 0, and absent where nobody asked") {
  Measurement measurement;
  measurement.median_ns = 1.5;
  CHECK_EQUAL(std::string::npos, members_of(measurement).dump().find("by_line"));
  LineCounters line{{"k.cu", 3}, {}};
  line.counters.warp_instructions[static_cast<std::size_t>(Pipe::memory)] = 2;
  line.counters.global_load_sectors = 8;
  measurement.by_line = {line};
  CHECK_EQUAL(std::string(R"([{"file":"k.cu","line":3,"counters":)"
                          R"({"warp_instructions":{"memory":2},"global_load_sectors":8}}])"),
              members_of(measurement)["latency"]["by_line"].dump());
}

TEST("a measured latency leaves out the mode that was not used") {
  CHECK_EQUAL(std::string(R"({"kind":"measured","latency":{"mode":"cold","median_ns":1.5,)"
                          R"("cold":{"median_ns":1.5,"samples_ns":[1.0,2.0]},"warmup_launches":12,)"
                          R"("tick_ns":32.0,"sm_clock_mhz":[1980.0],"contents":1,"notes":[]}})"),
              members_of(cold_only()).dump());
}

TEST("both modes stand beside each other, and the median is that of the mode") {
  CHECK_EQUAL(
      std::string(R"({"kind":"measured","latency":{"mode":"batch","median_ns":0.75,)"
                  R"("cold":{"median_ns":1.5,"samples_ns":[1.0,2.0]},)"
                  R"("batch":{"median_ns":0.75,"samples_ns":[0.5,1.0],"launches":200,"copies":8,)"
                  R"("floor_ns":0.25},"warmup_launches":12,"tick_ns":32.0,"sm_clock_mhz":[1980.0],)"
                  R"("contents":3,"captured":{"mode":"cold","sample":1},"notes":["hot"]}})"),
      members_of(both_modes()).dump());
}

TEST("a refused batch says why, and a floor that was not measured is not there") {
  Measurement measurement = both_modes();
  measurement.timing->batch->floor_ns = 0;
  measurement.timing->batch_refused = "x is restored";
  const std::string text = members_of(measurement).dump();
  CHECK(text.find(R"("batch_refused":"x is restored")") != std::string::npos);
  CHECK(text.find("floor_ns") == std::string::npos);
}

TEST("interleaved arms are in the request's order, with their launches if batched") {
  InterleavedTiming timing;
  timing.arms = {sampling(2, {2}), sampling(3, {3})};
  timing.sm_clock_mhz = {1980};
  const std::string arms = R"("arms":[{"median_ns":2.0,"samples_ns":[2.0]},)"
                           R"({"median_ns":3.0,"samples_ns":[3.0]}],)";
  CHECK_EQUAL(R"({"kind":"measured","mode":"cold",)" + arms + R"("sm_clock_mhz":[1980.0]})",
              members_of(timing).dump());
  timing.mode = SamplingMode::batch;
  for (Sampling& arm : timing.arms) arm.launches = 40;
  CHECK_EQUAL(
      R"({"kind":"measured","mode":"batch",)" + arms + R"("launches":40,"sm_clock_mhz":[1980.0]})",
      members_of(timing).dump());
}

TEST("the answers of both steps begin with what they did") {
  InterleavedTiming timing;
  timing.arms = {sampling(2, {2}), sampling(3, {3})};
  Answer answer;
  answer.steps = {MeasureAnswer{cold_only()}, InterleaveAnswer{timing}};
  const std::string text = text_of(answer);
  CHECK(text.find(R"({"do":"measure","kind":"measured","latency":{)") != std::string::npos);
  CHECK(text.find(R"({"do":"interleave","kind":"measured","mode":"cold",)") != std::string::npos);
}

TEST("a number JSON cannot hold is an error of the harness, never null") {
  Measurement modelled;
  modelled.median_ns = kNaN;
  CHECK_THROWS(Fault, members_of(modelled));
  for (const auto& spoil : std::vector<std::function<void(Timing&)>>{
           [](Timing& timing) { timing.cold->samples_ns[1] = kNaN; },
           [](Timing& timing) { timing.batch->floor_ns = kNaN; },
           [](Timing& timing) { timing.tick_ns = kNaN; },
           [](Timing& timing) { timing.sm_clock_mhz[0] = kNaN; }}) {
    Measurement measurement = both_modes();
    spoil(*measurement.timing);
    CHECK_THROWS(Fault, members_of(measurement));
  }
  InterleavedTiming timing;
  timing.arms = {sampling(2, {kNaN})};
  CHECK_THROWS(Fault, members_of(timing));
}
