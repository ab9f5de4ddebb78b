// Occupancy against values of NVIDIA's occupancy calculator for compute capability 9.0.
#include "check.hpp"
#include "model/occupancy.hpp"

using namespace cudaopt;

namespace {

struct Row {
  std::uint64_t threads;
  std::uint32_t registers;
  std::uint64_t shared_bytes;
  std::uint32_t blocks;
  const char* limited_by;
};

constexpr Row kKnown[] = {
    {256, 32, 0, 8, "warps"},           {1024, 32, 0, 2, "warps"},
    {32, 16, 0, 32, "blocks"},          {64, 32, 0, 32, "warps"},
    {256, 33, 0, 6, "registers"},       {256, 64, 0, 4, "registers"},
    {256, 128, 0, 2, "registers"},      {256, 255, 0, 1, "registers"},
    {1024, 64, 0, 1, "registers"},      {1024, 65, 0, 0, "registers"},
    {256, 32, 48 * 1024, 4, "shared"},  {256, 32, 227 * 1024, 1, "shared"},
    {256, 32, 228 * 1024, 0, "shared"}, {100, 32, 0, 16, "warps"},
    {1025, 32, 0, 0, "warps"},
};

}  // namespace

TEST("occupancy equals the known values") {
  const auto& table = model::device_table("h200");
  for (const Row& row : kKnown) {
    const Occupancy got = model::occupancy(table, row.threads, row.registers, row.shared_bytes);
    CHECK_EQUAL(row.blocks, got.blocks_per_sm);
    CHECK_EQUAL(std::string(row.limited_by), got.limited_by);
    CHECK_EQUAL(row.blocks * static_cast<std::uint32_t>((row.threads + 31) / 32), got.warps_per_sm);
  }
}

TEST("more registers or shared memory never raise occupancy") {
  const auto& table = model::device_table("h200");
  std::uint32_t last = 64;
  for (std::uint32_t registers = 16; registers <= 255; ++registers) {
    const std::uint32_t blocks = model::occupancy(table, 128, registers, 1024).blocks_per_sm;
    CHECK(blocks <= last);
    last = blocks;
  }
  last = 64;
  for (std::uint64_t bytes = 0; bytes <= 232448; bytes += 512) {
    const std::uint32_t blocks = model::occupancy(table, 128, 32, bytes).blocks_per_sm;
    CHECK(blocks <= last);
    last = blocks;
  }
}
