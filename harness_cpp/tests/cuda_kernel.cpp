// Modules on a GPU, and launches whose arguments and limits are checked before the driver sees
// them.
#include "cuda/kernel.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// A loaded kernel, and memory for its two arrays.
struct Loaded {
  explicit Loaded(const std::string& kernel)
      : module(gpu.context(), module_of(kernel)),
        memory(gpu.context()),
        spec(launch_of(kernel, 4)) {
    memory.create(buffer_of("x", 16));
    memory.create(buffer_of("y", 16));
    memory.write("x", bytes_of({1, 2, 3, 4}));
  }

  [[nodiscard]] cuda::KernelLaunch launch() const {
    return cuda::KernelLaunch(
        gpu.context(), module.function(spec.entry), spec,
        [this](const std::string& name) { return memory.find(name).pointer; });
  }
  void run() const {
    launch().enqueue();
    gpu.context().synchronize("launch of '" + spec.entry + "'");
  }

  Gpu gpu;
  cuda::LoadedModule module;
  cuda::Memory memory;
  LaunchSpec spec;
};

void check_refused(const Loaded& loaded, const std::string& words) {
  const FaultDetail fault = fault_of([&] { (void)loaded.launch(); });
  CHECK(FaultKind::invalid_launch == fault.kind);
  CHECK(says(fault, words));
  CHECK(says(fault, loaded.spec.entry));
}

}  // namespace

TEST("a launch gets its pointers and scalars") {
  const Loaded loaded("adds_one");
  loaded.run();
  CHECK(floats_of(loaded.memory.read("y")) == (std::vector<float>{2, 3, 4, 5}));
}

TEST("an argument too many, too few or of another size is refused") {
  Loaded loaded("copies");
  loaded.spec.arguments.pop_back();
  check_refused(loaded, "3 parameters, got 2");
  loaded.spec.arguments.resize(4);
  check_refused(loaded, "parameter 2 has 4 bytes, got 8");
  loaded.spec.arguments[2] = launch_of("copies", 4).arguments[2];
  check_refused(loaded, "3 parameters, got 4");
}

TEST("what breaks a limit is refused") {
  Loaded loaded("copies");
  loaded.spec.block = {1025, 1, 1};
  check_refused(loaded, "1024");
  loaded.spec.block = {32, 1, 1};
  loaded.spec.shared_bytes = 232449;
  check_refused(loaded, "232448");
}

TEST("shared memory above 48 KiB can be launched with") {
  Loaded loaded("copies");
  loaded.spec.shared_bytes = 232448;
  loaded.run();
  CHECK_EQUAL(1.0f, floats_of(loaded.memory.read("y"))[0]);
}

TEST("what the driver refuses at the launch is a fault of that launch") {
  const Loaded refused("refuses_701");
  const FaultDetail at_launch = fault_of([&] { refused.launch().enqueue(); });
  CHECK(FaultKind::invalid_launch == at_launch.kind);
}

TEST("what a kernel ends in is a fault of its launch") {
  const Loaded faulting("faults_716");
  const FaultDetail at_end = fault_of([&] { faulting.run(); });
  CHECK(FaultKind::misaligned == at_end.kind);
  CHECK(at_end.ends_process);
}

TEST("a kernel the cubin does not hold is an unknown entry") {
  const Loaded loaded("copies");
  const FaultDetail fault = fault_of([&] { (void)loaded.module.function("softmax"); });
  CHECK(FaultKind::unknown_entry == fault.kind);
  CHECK(says(fault, "'softmax'"));
  CHECK(says(fault, "'m'"));
}

TEST("a cubin the GPU cannot take names the module and the GPU's architecture") {
  const Gpu gpu;
  for (const char* image : {"for another architecture", "not an image"}) {
    const FaultDetail fault =
        fault_of([&] { const cuda::LoadedModule module(gpu.context(), module_of(image)); });
    CHECK(FaultKind::launch_error == fault.kind);
    CHECK(says(fault, "'m'"));
    CHECK(says(fault, "sm_90"));
  }
}

TEST("a module is unloaded when it goes") {
  const Gpu gpu;
  const int before = gpu.made_up().open_handles();
  {
    const cuda::LoadedModule module(gpu.context(), module_of("copies"));
  }
  CHECK_EQUAL(before, gpu.made_up().open_handles());
}

TEST("arguments are not counted against a kernel whose context is lost") {
  const Loaded faulting("faults_700");
  const cuda::FunctionHandle function = faulting.module.function("faults_700");
  CHECK_THROWS(Fault, faulting.run());
  const FaultDetail fault = fault_of([&] {
    const cuda::KernelLaunch launch(faulting.gpu.context(), function, faulting.spec,
                                    [](const std::string&) { return cuda::DevicePointer{0}; });
  });
  CHECK(FaultKind::invalid_launch != fault.kind);
  CHECK(fault.ends_process);
}

TEST("two launches of one kernel may differ in their shared memory") {
  Loaded loaded("copies");
  loaded.spec.shared_bytes = 100000;
  const cuda::KernelLaunch large = loaded.launch();
  loaded.spec.shared_bytes = 1024;
  const cuda::KernelLaunch small = loaded.launch();
  large.enqueue();
  small.enqueue();
  loaded.gpu.context().synchronize("both");
}

TEST("clusters and cooperative grids reach the driver") {
  Loaded loaded("adds_one");
  loaded.spec.grid = {2, 1, 1};
  loaded.spec.cluster = Dim3{2, 1, 1};
  loaded.spec.cooperative = true;
  loaded.spec.shared_bytes = 100000;
  loaded.run();
  CHECK(floats_of(loaded.memory.read("y")) == (std::vector<float>{2, 3, 4, 5}));
}

TEST("a cluster the kernel was not compiled for is refused, as is none") {
  Loaded loaded("clusters_of_2");
  check_refused(loaded, "Launch it with cluster=(2,1,1)");
  loaded.spec.grid = {4, 1, 1};
  loaded.spec.cluster = Dim3{4, 1, 1};
  check_refused(loaded, "compiled for clusters of (2,1,1)");
  loaded.spec.cluster = Dim3{2, 1, 1};
  loaded.run();
}

TEST("a cooperative grid that does not fit the GPU is refused before it hangs") {
  Loaded loaded("copies");
  loaded.spec.cooperative = true;
  loaded.spec.block = {1024, 1, 1};
  loaded.spec.grid = {264, 1, 1};
  loaded.run();
  loaded.spec.grid = {265, 1, 1};
  check_refused(loaded, "265 blocks, 264 are resident at once (2 on each of 132");
  loaded.spec.shared_bytes = 200000;
  check_refused(loaded, "132 are resident at once (1 on each");
}

TEST("a GPU that launches no clusters says so") {
  const Gpu gpu(Settings{{"CAPABILITY", "80"}});
  CHECK(!gpu.context().facts().launches_clusters);
  const cuda::LoadedModule module(gpu.context(), module_of("copies"));
  LaunchSpec spec = launch_of("copies", 4);
  spec.cluster = Dim3{1, 1, 1};
  const FaultDetail fault = fault_of([&] {
    const cuda::KernelLaunch launch(gpu.context(), module.function("copies"), spec,
                                    [](const std::string&) { return cuda::DevicePointer{0}; });
  });
  CHECK(says(fault, "sm_80"));
}
