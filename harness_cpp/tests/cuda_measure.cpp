// The recipe on a clock that is virtual: every time is known beforehand.
#include <algorithm>

#include "cuda/measure.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

constexpr std::int32_t kCount = 64;

MeasureSpec quickly(SamplingMode mode = SamplingMode::automatic) {
  MeasureSpec how;
  how.warmup = {2, 0};
  how.samples = 12;
  how.mode = mode;
  return how;
}

// A kernel on x = 1, 1, ... and an output y.
struct Timed {
  explicit Timed(const std::string& kernel, Settings settings = {})
      : gpu(std::move(settings)), module(gpu.context(), module_of(kernel)), memory(gpu.context()) {
    arm = {module.function(kernel), launch_of(kernel, kCount)};
    memory.create(buffer_of("x", 4 * kCount, Access::read));
    memory.create(buffer_of("y", 4 * kCount, Access::write));
    memory.write("x", bytes_of(std::vector<float>(kCount, 1)));
  }
  [[nodiscard]] Timing measure(const MeasureSpec& how) const {
    return cuda::measure(gpu.context(), memory, arm, how);
  }

  Gpu gpu;
  cuda::LoadedModule module;
  cuda::Memory memory;
  cuda::Arm arm;
};

// `how` with one launch on 7, 7, ... whose output is kept.
MeasureSpec held_out(MeasureSpec how) {
  how.held_out = FileContents{{"x", content_of(bytes_of(std::vector<float>(kCount, 7)))}};
  how.capture = {"y"};
  return how;
}

float first_captured(const Timing& timing) {
  return floats_of(timing.captured.value().outputs.at("y"))[0];
}

}  // namespace

TEST("a long kernel is timed cold, a short one in batches as well, and the times are exact") {
  const Timing slow = Timed("copies_takes_64000_ns").measure(quickly());
  CHECK(SamplingMode::cold == slow.mode);
  CHECK_EQUAL(64000.0, slow.cold.value().median_ns);
  CHECK(!slow.batch);
  const Timing fast = Timed("copies_takes_960_ns").measure(quickly());
  CHECK(SamplingMode::batch == fast.mode);
  CHECK_EQUAL(960.0, fast.cold.value().median_ns);
  CHECK_EQUAL(960.0, fast.batch.value().median_ns);
  CHECK_EQUAL(32.0, fast.tick_ns);
}

TEST("a mode that is asked for is the only one") {
  const Timed timed("copies_takes_960_ns");
  CHECK(!timed.measure(quickly(SamplingMode::cold)).batch);
  CHECK(!timed.measure(quickly(SamplingMode::batch)).cold);
}

TEST("the output that is kept is that of the held-out contents, in either mode") {
  const Timed timed("copies_takes_960_ns");
  for (const SamplingMode mode : {SamplingMode::cold, SamplingMode::batch}) {
    const Timing timing = timed.measure(held_out(quickly(mode)));
    CHECK(mode == timing.captured.value().mode);
    CHECK_EQUAL(7.0f, first_captured(timing));
  }
}

TEST("a kernel that hands out its first answer has the wrong one for the held-out contents") {
  CHECK_EQUAL(1.0f, first_captured(Timed("remembers").measure(held_out(quickly()))));
}

TEST("an accumulating kernel is refused batches, and starts from the same contents every time") {
  Timed timed("accumulates_takes_960_ns");
  timed.memory.create(buffer_of("y", 4 * kCount));
  timed.memory.write("y", bytes_of(std::vector<float>(kCount, 100)));
  const Timing timing = timed.measure(held_out(quickly()));
  CHECK(!timing.batch);
  CHECK(timing.batch_refused.find("'y'") != std::string::npos);
  CHECK_EQUAL(107.0f, first_captured(timing));
  CHECK_EQUAL(100.0f, floats_of(timed.memory.read("y"))[0]);
}

TEST("noise prolongs a measurement up to its limit, and a steady kernel ends at its samples") {
  MeasureSpec how = quickly(SamplingMode::cold);
  how.relative_error = 1e-4;
  how.max_samples = 50;
  CHECK_EQUAL(12u, Timed("copies_takes_64000_ns").measure(how).cold.value().samples_ns.size());
  const Timed noisy("copies_takes_64000_ns", Settings{{"NOISE_TICKS", "100"}});
  CHECK_EQUAL(50u, noisy.measure(how).cold.value().samples_ns.size());
}

TEST("the clock of each block of samples is measured") {
  MeasureSpec how = quickly(SamplingMode::cold);
  how.samples = 60;
  const Timed timed("copies", Settings{{"THROTTLE_AFTER", "30"}});
  const std::vector<double> mhz = timed.measure(how).sm_clock_mhz;
  CHECK(mhz.size() >= 3);
  CHECK(mhz.front() > 1970 && mhz.front() < 1990);
  CHECK(mhz.back() > 1190 && mhz.back() < 1210);
}

TEST("a fault while timing is one of that kernel, and ends the process") {
  const Timed timed("faults_719");
  const FaultDetail fault = fault_of([&] { (void)timed.measure(quickly()); });
  CHECK(FaultKind::trap == fault.kind);
  CHECK(fault.ends_process);
  CHECK(says(fault, "'faults_719'"));
}

TEST("measuring leaves buffers as they were and gives back all it took") {
  const Timed timed("copies_takes_960_ns");
  const std::uint64_t free_bytes = timed.gpu.free_bytes();
  const int handles = timed.gpu.made_up().open_handles();
  const std::vector<std::uint8_t> before = timed.memory.read("y");
  (void)timed.measure(held_out(quickly()));
  CHECK(before == timed.memory.read("y"));
  CHECK_EQUAL(free_bytes, timed.gpu.free_bytes());
  CHECK_EQUAL(handles, timed.gpu.made_up().open_handles());
}
