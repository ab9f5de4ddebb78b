#include <stdexcept>

#include "cuda/helper_kernels.hpp"
#include "cuda/stopwatch.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// So many empty kernels between the events.
cuda::Shot empties(const Gpu& gpu, int kernels) {
  cuda::Shot shot;
  shot.timed = [&gpu, kernels] {
    for (int i = 0; i < kernels; ++i) {
      enqueue_helper(gpu.context(), gpu.context().helper(cuda::kEmptyKernel), 1, 32, {});
    }
  };
  return shot;
}

}  // namespace

TEST("more shots than a stream takes at once are timed without waiting for the host") {
  const Gpu gpu;
  cuda::Stopwatch stopwatch(gpu.context(), "a test");
  const auto times = stopwatch.time(std::vector<cuda::Shot>(50, empties(gpu, 100))).elapsed_ns;
  CHECK_EQUAL(50u, times.size());
  CHECK(times.front() > 0);
  CHECK(!stopwatch.waited_for_host());
}

TEST("a shot that cannot be queued in advance is noticed, and later ones are not held back") {
  const Gpu gpu;
  cuda::Stopwatch stopwatch(gpu.context(), "a test");
  (void)stopwatch.time({empties(gpu, 2000)});
  CHECK(stopwatch.waited_for_host());
  CHECK(stopwatch.time({empties(gpu, 1)}).elapsed_ns[0] < 1e6);
}

TEST("what is prepared and finished is not timed") {
  const Gpu gpu;
  cuda::Stopwatch stopwatch(gpu.context(), "a test");
  cuda::Shot shot = empties(gpu, 1);
  const double alone_ns = stopwatch.time({shot}).elapsed_ns[0];
  shot.prepare = shot.finish = empties(gpu, 7).timed;
  CHECK(stopwatch.time({shot}).elapsed_ns[0] <= alone_ns + 32);
}

TEST("a shot that throws while it is queued leaves a stopwatch that works") {
  const Gpu gpu;
  cuda::Stopwatch stopwatch(gpu.context(), "a test");
  cuda::Shot broken;
  broken.timed = [] { throw std::runtime_error("cannot be queued"); };
  CHECK_THROWS(std::runtime_error, stopwatch.time({broken}));
  CHECK(stopwatch.time({empties(gpu, 1)}).elapsed_ns[0] > 0);
  CHECK(!stopwatch.waited_for_host());
}

TEST("a fault that shows while more is queued is the fault of the work, not of what is queued") {
  const Gpu gpu;
  const cuda::LoadedModule module(gpu.context(), module_of("faults_700"));
  LaunchSpec spec = launch_of("faults_700", 0);
  const cuda::KernelLaunch launch(gpu.context(), module.function(spec.entry), spec,
                                  [](const std::string&) { return cuda::DevicePointer{0}; });
  cuda::Stopwatch stopwatch(gpu.context(), "timed launch of 'faults_700'");
  cuda::Shot faulting;
  faulting.timed = [&] { launch.enqueue(); };
  const FaultDetail fault = fault_of([&] { stopwatch.run({faulting, empties(gpu, 2000)}); });
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK(says(fault, "timed launch of 'faults_700'"));
}

TEST("a kernel is loaded before it is launched, so that loading holds no sample up") {
  const Gpu gpu;
  const cuda::LoadedModule module(gpu.context(), module_of("does_nothing_loads_late"));
  const LaunchSpec spec = launch_of("does_nothing_loads_late", 0);
  const cuda::KernelLaunch launch(gpu.context(), module.function(spec.entry), spec,
                                  [](const std::string&) { return cuda::DevicePointer{0}; });
  cuda::Stopwatch stopwatch(gpu.context(), "a test");
  cuda::Shot shot;
  shot.timed = [&] { launch.enqueue(); };
  (void)stopwatch.time({shot});
  CHECK(!stopwatch.waited_for_host());
}
