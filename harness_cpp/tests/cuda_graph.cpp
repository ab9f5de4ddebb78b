// Launches recorded and replayed, and what a recording that fails leaves behind.
#include "cuda/graph.hpp"
#include "cuda/helper_kernels.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

void enqueue_empty(const Gpu& gpu) {
  enqueue_helper(gpu.context(), gpu.context().helper(cuda::kEmptyKernel), 1, 32, {});
}

}  // namespace

TEST("a recorded launch happens on each replay, and not before") {
  const Gpu gpu;
  const cuda::LoadedModule module(gpu.context(), module_of("accumulates"));
  cuda::Memory memory(gpu.context());
  memory.create(buffer_of("x", 4));
  memory.create(buffer_of("y", 4));
  memory.write("x", bytes_of({1}));
  memory.write("y", bytes_of({0}));
  const cuda::KernelLaunch launch(
      gpu.context(), module.function("accumulates"), launch_of("accumulates", 1),
      [&](const std::string& name) { return memory.find(name).pointer; });
  const cuda::Graph graph(gpu.context(), "a test", [&] { launch.enqueue(); });
  CHECK_EQUAL(0.0f, floats_of(memory.read("y"))[0]);
  graph.replay();
  graph.replay();
  CHECK_EQUAL(2.0f, floats_of(memory.read("y"))[0]);
}

TEST("a recording that is refused half way leaves the stream usable and nothing behind") {
  const Gpu gpu;
  const cuda::LoadedModule module(gpu.context(), module_of("refuses_701"));
  const cuda::KernelLaunch refused(gpu.context(), module.function("refuses_701"),
                                   launch_of("refuses_701", 1),
                                   [](const std::string&) { return cuda::DevicePointer{0}; });
  const int handles = gpu.made_up().open_handles();
  const FaultDetail fault = fault_of([&] {
    const cuda::Graph graph(gpu.context(), "a test", [&] {
      enqueue_empty(gpu);
      refused.enqueue();
    });
  });
  CHECK(FaultKind::invalid_launch == fault.kind);
  CHECK_EQUAL(handles, gpu.made_up().open_handles());
  enqueue_empty(gpu);
  gpu.context().synchronize("a test");
}

TEST("a graph may go while its replay is still queued") {
  const Gpu gpu;
  const int handles = gpu.made_up().open_handles();
  {
    const cuda::Graph graph(gpu.context(), "a test", [&] { enqueue_empty(gpu); });
    graph.replay();
  }
  gpu.context().synchronize("a test");
  CHECK_EQUAL(handles, gpu.made_up().open_handles());
}
