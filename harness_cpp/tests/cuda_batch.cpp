#include "cuda/batch.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

struct Row {
  Access x, y;
  bool y_is_written_before, y_is_alias_of_x;
  const char* refused;  // the buffer that is named, none: not refused
};

constexpr Row kRows[] = {
    {Access::read, Access::write, false, false, nullptr},
    {Access::read, Access::read_write, false, false, nullptr},  // from poison each time
    {Access::read, Access::read_write, true, false, "'y'"},     // accumulates
    {Access::read, Access::write, true, false, nullptr},        // is only written over
    {Access::read, Access::write, false, true, "'x'"},          // in place
    {Access::read, Access::read, false, true, nullptr},
};

}  // namespace

TEST("launches that change what they read cannot be batched") {
  for (const Row& row : kRows) {
    const Gpu gpu;
    cuda::Memory memory(gpu.context());
    memory.create(buffer_of("x", 64, row.x));
    memory.write("x", bytes_of(std::vector<float>(16, 1)));
    BufferSpec y = buffer_of("y", 64, row.y);
    if (row.y_is_alias_of_x) y.alias = "x";
    memory.create(y);
    if (row.y_is_written_before) memory.write("y", bytes_of(std::vector<float>(16, 1)));
    const std::string refusal = cuda::batch_refusal(memory, launch_of("copies", 16));
    CHECK_EQUAL(row.refused == nullptr, refusal.empty());
    if (row.refused != nullptr) CHECK(refusal.find(row.refused) != std::string::npos);
  }
}

TEST("a plan without copies is refused with both sizes") {
  cuda::BatchNeeds needs;
  needs.copy_bytes = 4096;
  needs.free_bytes = 8192;
  const std::string refusal = cuda::batch_refusal({10, 0}, needs);
  CHECK(refusal.find("4096") != std::string::npos);
  CHECK(refusal.find("8192") != std::string::npos);
  CHECK_EQUAL(std::string(), cuda::batch_refusal({10, 1}, needs));
}

TEST("times of a replay become times of a launch") {
  std::vector<double> times_ns = {1000, 1100};
  cuda::divide(times_ns, 10);
  CHECK((times_ns == std::vector<double>{100, 110}));
}
