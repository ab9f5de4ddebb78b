// Several kernels side by side on a clock that is virtual.
#include "cuda/interleave.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// Kernels on the same x, each with an output of its own.
struct SideBySide {
  explicit SideBySide(const std::vector<std::string>& kernels) : memory(gpu.context()) {
    memory.create(buffer_of("x", 64, Access::read));
    memory.write("x", bytes_of(std::vector<float>(16, 1)));
    for (const std::string& kernel : kernels) {
      modules.push_back(
          std::make_unique<cuda::LoadedModule>(gpu.context(), module_of(kernel, kernel)));
      LaunchSpec spec = launch_of(kernel, 16);
      spec.arguments[1].buffer = "y" + std::to_string(arms.size());
      memory.create(buffer_of(spec.arguments[1].buffer, 64, Access::write));
      arms.push_back({modules.back()->function(kernel), spec});
    }
  }

  [[nodiscard]] InterleavedTiming time(SamplingMode mode = SamplingMode::automatic) const {
    InterleaveSpec how;
    for (const cuda::Arm& arm : arms) how.arms.push_back(arm.spec);
    how.blocks = 4;
    how.launches = 3;
    how.warmup = {2, 0};
    how.mode = mode;
    return cuda::interleave(gpu.context(), memory, arms, how);
  }

  Gpu gpu;
  cuda::Memory memory;
  std::vector<std::unique_ptr<cuda::LoadedModule>> modules;
  std::vector<cuda::Arm> arms;
};

}  // namespace

TEST("each arm has its own times, block after block") {
  const InterleavedTiming timing =
      SideBySide({"copies_takes_64000_ns", "adds_one_takes_65920_ns"}).time();
  CHECK(SamplingMode::cold == timing.mode);
  CHECK_EQUAL(2u, timing.arms.size());
  CHECK(timing.arms[0].samples_ns == std::vector<double>(12, 64000));
  CHECK(timing.arms[1].samples_ns == std::vector<double>(12, 65920));
  CHECK_EQUAL(4u, timing.sm_clock_mhz.size());
}

TEST("short arms are timed in batches of one size, long ones among them have all timed cold") {
  const InterleavedTiming fast =
      SideBySide({"copies_takes_960_ns", "adds_one_takes_1920_ns"}).time();
  CHECK(SamplingMode::batch == fast.mode);
  CHECK_EQUAL(960.0, fast.arms[0].median_ns);
  CHECK_EQUAL(1920.0, fast.arms[1].median_ns);
  CHECK(fast.arms[0].launches > 1);
  CHECK_EQUAL(fast.arms[0].launches, fast.arms[1].launches);
  const InterleavedTiming mixed =
      SideBySide({"copies_takes_960_ns", "adds_one_takes_64000_ns"}).time();
  CHECK(SamplingMode::cold == mixed.mode);
}

TEST("batches are possible for long arms too, if they are asked for") {
  const SideBySide arms({"copies_takes_64000_ns", "adds_one_takes_65920_ns"});
  const InterleavedTiming timing = arms.time(SamplingMode::batch);
  CHECK(SamplingMode::batch == timing.mode);
  CHECK_EQUAL(65920.0, timing.arms[1].median_ns);
}

TEST("arms that start from different contents are timed cold, where each gets its own again") {
  SideBySide arms({"copies_takes_960_ns", "adds_one_takes_1920_ns"});
  arms.memory.create(buffer_of("z", 64, Access::read));
  arms.memory.write("z", bytes_of(std::vector<float>(16, 5)));
  arms.arms[1].spec.arguments[0].buffer = "z";
  CHECK(SamplingMode::cold == arms.time(SamplingMode::batch).mode);
}

TEST("interleaving gives back all it took") {
  const SideBySide arms({"copies_takes_960_ns", "adds_one_takes_1920_ns"});
  const std::uint64_t free_bytes = arms.gpu.free_bytes();
  const int handles = arms.gpu.made_up().open_handles();
  (void)arms.time();
  CHECK_EQUAL(free_bytes, arms.gpu.free_bytes());
  CHECK_EQUAL(handles, arms.gpu.made_up().open_handles());
}
