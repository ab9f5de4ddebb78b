// Measuring with less memory than all contents need.
#include "cuda/measure.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

constexpr std::uint64_t kMib = 1 << 20;

// On a GPU of so much memory. It gives 2 MiB at a time: x and y take 6, the instruments 20, the
// first contents and what launches work on 12, other contents 6 each.
Timing measure_within(std::uint64_t memory_mib, const MeasureSpec& how) {
  const Gpu gpu(Settings{{"MEMORY_BYTES", std::to_string(memory_mib * kMib)}});
  const cuda::LoadedModule module(gpu.context(), module_of("copies_takes_64000_ns"));
  cuda::Memory memory(gpu.context());
  memory.create(buffer_of("x", 4 * kMib, Access::read));
  memory.write("x", bytes_of(std::vector<float>(kMib, 1)));
  memory.create(buffer_of("y", 4, Access::write));
  const LaunchSpec launch = launch_of("copies_takes_64000_ns", 1);
  return cuda::measure(gpu.context(), memory, {{module.function(launch.entry)}, launch}, how);
}

MeasureSpec with_other_contents(int count) {
  MeasureSpec how;
  how.warmup = {1, 0};
  how.samples = 3;
  how.contents.resize(static_cast<std::size_t>(count));
  return how;
}

}  // namespace

TEST("contents that do not fit the memory are left out, and a note says how many") {
  const Timing all = measure_within(64, with_other_contents(4));
  CHECK_EQUAL(5, all.contents);
  CHECK(all.notes.empty());
  const Timing some = measure_within(52, with_other_contents(4));
  CHECK_EQUAL(3, some.contents);
  CHECK_EQUAL(1u, some.notes.size());
  CHECK(some.notes[0].find("2 of 4") != std::string::npos);
}

TEST("without memory for the held-out contents there is no measurement") {
  MeasureSpec how = with_other_contents(0);
  how.held_out = FileContents{{"x", content_of(bytes_of(std::vector<float>(kMib, 2)))}};
  const FaultDetail fault = fault_of([&] { (void)measure_within(40, how); });
  CHECK(FaultKind::out_of_memory == fault.kind);
  CHECK(says(fault, "other contents"));
}

TEST("memory for the outputs that are kept comes before other contents") {
  MeasureSpec how = with_other_contents(4);
  how.capture = {"y"};
  const Timing some = measure_within(52, how);
  CHECK_EQUAL(2, some.contents);
  CHECK(some.captured.has_value());
  CHECK(some.notes.at(0).find("1 of 4") != std::string::npos);
}

TEST("a measurement that runs out of memory, whenever, gives back all it took") {
  for (std::uint64_t memory_mib = 6; memory_mib < 46; memory_mib += 2) {
    const Gpu gpu(Settings{{"MEMORY_BYTES", std::to_string(memory_mib * kMib)}});
    const cuda::LoadedModule module(gpu.context(), module_of("copies_takes_64000_ns"));
    cuda::Memory memory(gpu.context());
    memory.create(buffer_of("x", 4 * kMib, Access::read));
    memory.create(buffer_of("y", 4, Access::write));
    const std::uint64_t free_bytes = gpu.free_bytes();
    const int handles = gpu.made_up().open_handles();
    const LaunchSpec launch = launch_of("copies_takes_64000_ns", 1);
    MeasureSpec how = with_other_contents(0);
    how.held_out = FileContents{};
    how.capture = {"y"};
    const FaultDetail fault = fault_of([&] {
      (void)cuda::measure(gpu.context(), memory, {{module.function(launch.entry)}, launch}, how);
    });
    CHECK(FaultKind::out_of_memory == fault.kind);
    CHECK_EQUAL(free_bytes, gpu.free_bytes());
    CHECK_EQUAL(handles, gpu.made_up().open_handles());
  }
}
