// One GPU, opened: its facts, and what of it is given back.
#include "cuda/context.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

TEST("the limits of a GPU are the driver's") {
  const Gpu gpu(Settings{{"CAPABILITY", "86"}, {"MEMORY_BYTES", "1073741824"}});
  const DeviceLimits limits = gpu.context().limits();
  CHECK_EQUAL("sm_86", limits.architecture);
  CHECK_EQUAL("Made-Up GPU", limits.name);
  CHECK_EQUAL(132u, limits.multiprocessors);
  CHECK_EQUAL(232448u, limits.max_shared_bytes);
  CHECK_EQUAL(65535u, limits.max_grid.y);
  CHECK_EQUAL(64u, limits.max_block.z);
  CHECK_EQUAL(std::uint64_t{1} << 30, limits.gpu.value().memory_bytes);
  CHECK_EQUAL("GPU-00010203-0405-0607-0809-0a0b0c0d0e00", limits.gpu.value().uuid);
  CHECK(limits.gpu.value().guard_pages);
}

TEST("free memory is as of now") {
  const Gpu gpu;
  const std::uint64_t before = gpu.free_bytes();
  const auto held = cuda::allocate_plain(gpu.context(), 1, "a byte");
  CHECK(gpu.free_bytes() < before);
}

TEST("a GPU beyond those there are is no device, and the message says how many there are") {
  const MadeUpDriver made_up(Settings{{"GPUS", "2"}});
  const cuda::Driver driver = made_up.open();
  const cuda::Context second(driver, 1);
  CHECK_EQUAL(1, second.ordinal());
  const FaultDetail fault = fault_of([&] { const cuda::Context third(driver, 2); });
  CHECK(FaultKind::no_device == fault.kind);
  CHECK(says(fault, "2 GPUs are visible"));
}

TEST("a closed context leaves nothing open") {
  const MadeUpDriver made_up;
  const cuda::Driver driver = made_up.open();
  {
    const cuda::Context context(driver, 0);
    CHECK(made_up.open_handles() > 0);
  }
  CHECK_EQUAL(0, made_up.open_handles());
}

TEST("a context that cannot be opened whole leaves nothing open, and no kernel is blamed") {
  const MadeUpDriver made_up(Settings{{"OWN_MODULE", "200"}});
  const cuda::Driver driver = made_up.open();
  const FaultDetail fault = fault_of([&] { const cuda::Context context(driver, 0); });
  CHECK(FaultKind::no_device == fault.kind);
  CHECK_EQUAL(0, made_up.open_handles());
}

TEST("contexts of several GPUs are closed whichever is current") {
  const MadeUpDriver made_up(Settings{{"GPUS", "2"}});
  const cuda::Driver driver = made_up.open();
  {
    const cuda::Context first(driver, 0), second(driver, 1);
    first.make_current();
  }
  CHECK_EQUAL(0, made_up.open_handles());
}
