// What reaches DRAM: sharing between blocks, reuse that L2 holds or loses.
#include "check.hpp"
#include "model/traffic.hpp"

using namespace cudaopt;
using namespace cudaopt::model;

namespace {

constexpr std::uint64_t kArray = std::uint64_t{1} << 40;

// `blocks` blocks that touch `units` of 64 bytes each in one array.
LaunchTotals totals(std::uint64_t blocks, ArrayTouch per_block, std::uint64_t l2_sectors) {
  LaunchTotals sums;
  sums.blocks = blocks;
  per_block.base = kArray;
  for (auto* count : {&per_block.read_sectors, &per_block.written_sectors, &per_block.read_units,
                      &per_block.written_units, &per_block.filled_units}) {
    *count *= blocks;
  }
  sums.sum.touched = {per_block};
  sums.sum.l2_read_sectors = l2_sectors * blocks;
  return sums;
}

Traffic traffic(std::uint64_t array_bytes, const LaunchTotals& sums, std::uint64_t resident,
                std::uint64_t blocks_per_sm = 1) {
  LaunchShape launch;
  launch.arrays = {{kArray, array_bytes}};
  return traffic_of(device_table("h200"), launch, sums, resident, blocks_per_sm);
}

}  // namespace

TEST("traffic: distinct units move once, partial writes are fetched as well") {
  const Traffic streamed = traffic(1u << 30, totals(1000, {0, 20, 20, 10, 10, 4}, 20), 100);
  CHECK_EQUAL(1000.0 * 64 * (10 + 10 + 4), streamed.dram_bytes);
  CHECK_EQUAL(1.0, streamed.cold_share);
  CHECK_EQUAL(0.0, streamed.spilled_share);
}

TEST("traffic: blocks that read the same array share its one trip from DRAM") {
  const Traffic shared = traffic(6400 - 64, totals(1000, {0, 200, 0, 100, 0, 0}, 200), 100);
  CHECK_EQUAL(6400.0, shared.dram_bytes);
  CHECK_EQUAL(0.001, shared.cold_share);
}

TEST("traffic: reuse is lost in part when resident blocks outgrow L2") {
  // 1000 resident blocks of 100 kB make 100 MB; each reads its data twice.
  const LaunchTotals sums = totals(1000, {0, 3125, 0, 1562, 0, 0}, 6250);
  CHECK(traffic(1u << 30, sums, 100).spilled_share == 0);
  const Traffic spilled = traffic(1u << 30, sums, 1000);
  CHECK(spilled.spilled_share > 0.45 && spilled.spilled_share < 0.55);
  CHECK(spilled.dram_bytes > 1.4 * traffic(1u << 30, sums, 100).dram_bytes);
}

TEST("traffic: blocks of one SM that read the same sectors find them in L1") {
  const LaunchTotals sums = totals(100, {0, 200, 0, 100, 0, 0}, 200);
  CHECK_EQUAL(100.0 * 200 * 32, traffic(6400 - 64, sums, 100, 1).l2_bytes);
  CHECK_EQUAL(100.0 * 200 * 32 / 4, traffic(6400 - 64, sums, 100, 4).l2_bytes);
}

TEST("traffic: blocks that share nothing save nothing in L1") {
  const LaunchTotals sums = totals(100, {0, 200, 0, 100, 0, 0}, 200);
  CHECK_EQUAL(100.0 * 200 * 32, traffic(1u << 30, sums, 100, 8).l2_bytes);
}
