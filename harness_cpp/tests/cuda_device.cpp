// A GPU as a device: what a request does to it.
#include "cuda/cuda_device.hpp"

#include "cuda/gpus.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// A device with a module, x = 1, 2, 3, 4 and y.
struct Opened {
  explicit Opened(const std::string& kernel, std::uint64_t guard_bytes = 0)
      : device(cuda::make_cuda_device(gpu.context(), gpu.files(), "cuda:0 (Made-Up GPU)")),
        entry(kernel) {
    device->load(module_of(kernel));
    for (const char* name : {"x", "y"}) {
      BufferSpec spec = buffer_of(name, 16, *name == 'x' ? Access::read : Access::write);
      spec.guard_bytes = guard_bytes;
      device->create_buffer(spec);
    }
    device->write("x", bytes_of({1, 2, 3, 4}));
  }

  std::vector<float> launched() {
    device->launch(launch_of(entry, 4));
    return floats_of(device->read("y"));
  }

  Gpu gpu;
  std::unique_ptr<Device> device;
  std::string entry;
};

}  // namespace

TEST("a launch on a GPU answers no counters, and its outputs can be read") {
  Opened opened("copies");
  CHECK(!opened.device->launch(launch_of("copies", 4)).counters);
  CHECK(opened.launched() == (std::vector<float>{1, 2, 3, 4}));
}

TEST("loading again resets what a kernel keeps from launch to launch") {
  Opened opened("remembers");
  CHECK_EQUAL(1.0f, opened.launched()[0]);
  opened.device->write("x", bytes_of({9, 9, 9, 9}));
  CHECK_EQUAL(1.0f, opened.launched()[0]);
  opened.device->load(module_of("remembers"));
  CHECK_EQUAL(9.0f, opened.launched()[0]);
}

TEST("the host may write an input that kernels may not") {
  Opened right("copies", 256);
  (void)right.launched();
  right.device->write("x", bytes_of({5, 6, 7, 8}));
  CHECK(right.launched() == (std::vector<float>{5, 6, 7, 8}));
}

TEST("a write to an input faults where there are guard pages") {
  Opened wrong("writes_input", 256);
  const FaultDetail fault = fault_of([&] { (void)wrong.launched(); });
  CHECK(FaultKind::illegal_address == fault.kind);
}

TEST("an output keeps its guards, and one that overran into them does not") {
  Opened right("copies", 256);
  BufferSpec odd = buffer_of("y", 12, Access::write);
  odd.guard_bytes = 256;
  right.device->create_buffer(odd);
  right.device->launch(launch_of("copies", 3));
  CHECK(right.device->guards_intact("y"));
  right.device->launch(launch_of("copies", 4));
  CHECK(!right.device->guards_intact("y"));
}

TEST("after a fault every call ends in one, and closing the device harms nothing") {
  Opened opened("faults_700");
  CHECK_THROWS(Fault, opened.launched());
  const FaultDetail again = fault_of([&] { (void)opened.device->read("x"); });
  CHECK(again.ends_process);
}

TEST("a device that is closed leaves nothing behind for the next") {
  Gpu gpu;
  const std::uint64_t free_bytes = gpu.free_bytes();
  const int handles = gpu.made_up().open_handles();
  {
    const auto device = cuda::make_cuda_device(gpu.context(), gpu.files(), "cuda:0");
    device->load(module_of("copies"));
    device->create_buffer(buffer_of("x", 1 << 20));
  }
  CHECK_EQUAL(free_bytes, gpu.free_bytes());
  CHECK_EQUAL(handles, gpu.made_up().open_handles());
}

TEST("GPUs are opened once, each when a request first asks for it") {
  const MadeUpDriver made_up(Settings{{"GPUS", "2"}});
  cuda::Gpus gpus(CUDAOPT_MADE_UP_DRIVER);
  CHECK_EQUAL(0, made_up.open_handles());
  CHECK_EQUAL("cuda:1 (Made-Up GPU)", gpus.open(1)->description());
  const int opened = made_up.open_handles();
  (void)gpus.open(1);
  CHECK_EQUAL(opened, made_up.open_handles());
  CHECK_THROWS(Fault, gpus.open(2));
}

TEST("a fault of the harness's own kernels is not blamed on the kernel that was to run") {
  Gpu gpu(Settings{{"OWN_KERNEL", "700"}});
  const auto device = cuda::make_cuda_device(gpu.context(), gpu.files(), "cuda:0");
  device->load(module_of("copies"));
  device->create_buffer(buffer_of("x", 16));
  device->create_buffer(buffer_of("y", 16));
  const FaultDetail fault = fault_of([&] { device->launch(launch_of("copies", 4)); });
  CHECK(FaultKind::no_device == fault.kind);
  CHECK(says(fault, "No kernel is to blame"));
  CHECK(fault.ends_process);
}

TEST("a request that runs out of memory half way leaves all of it to the next") {
  Gpu gpu(Settings{{"MEMORY_BYTES", std::to_string(64 << 20)}});
  const std::uint64_t free_bytes = gpu.free_bytes();
  const int handles = gpu.made_up().open_handles();
  for (const std::uint64_t guard_bytes : {0, 256}) {
    const FaultDetail fault = fault_of([&] {
      const auto device = cuda::make_cuda_device(gpu.context(), gpu.files(), "cuda:0");
      for (const char* name : {"x", "y", "z"}) {
        BufferSpec spec = buffer_of(name, 24 << 20);
        spec.guard_bytes = guard_bytes;
        device->create_buffer(spec);
      }
    });
    CHECK(FaultKind::out_of_memory == fault.kind);
    CHECK_EQUAL(free_bytes, gpu.free_bytes());
    CHECK_EQUAL(handles, gpu.made_up().open_handles());
  }
}
