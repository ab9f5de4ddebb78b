// From samples to the launch: weights of edge blocks, atomics that meet, spread.
#include "check.hpp"
#include "model/totals.hpp"

using namespace cudaopt;
using namespace cudaopt::model;

namespace {

BlockTrace trace(std::uint64_t instructions) {
  BlockTrace one;
  one.counters.blocks = 1;
  one.counters.warp_instructions[0] = instructions;
  one.lsu_wavefronts = instructions;
  one.critical_cycles = instructions;
  return one;
}

}  // namespace

TEST("totals: first and last stand for themselves, the middle for all others") {
  const LaunchTotals totals = launch_totals(100, {trace(1), trace(10), trace(10), trace(3)});
  CHECK_EQUAL(1u + 98u * 10u + 3u, totals.sum.lsu_wavefronts);
  CHECK_EQUAL(100u, totals.sum.counters.blocks);
  CHECK_EQUAL((1 + 98 * 10 + 3) / 100.0, totals.mean_critical_cycles);
}

TEST("totals: counters by line are weighted as those of the block are") {
  BlockTrace one = trace(1);
  one.by_line.resize(2);
  one.by_line[1].shared_requests = 5;
  one.by_line[1].warp_instructions[0] = 7;
  const LaunchTotals totals = launch_totals(100, {one, one, one});
  CHECK_EQUAL(2u, totals.sum.by_line.size());
  CHECK_EQUAL(500u, totals.sum.by_line[1].shared_requests);
  CHECK_EQUAL(700u, totals.sum.by_line[1].warp_instructions[0]);
  CHECK_EQUAL(0u, totals.sum.by_line[0].shared_requests);
}

TEST("totals: every block sampled is a plain sum") {
  const LaunchTotals totals = launch_totals(3, {trace(1), trace(2), trace(4)});
  CHECK_EQUAL(7u, totals.sum.lsu_wavefronts);
}

TEST("totals: one or two samples stand for the whole launch") {
  CHECK_EQUAL(700u, launch_totals(100, {trace(7)}).sum.lsu_wavefronts);
  CHECK_EQUAL(500u, launch_totals(100, {trace(4), trace(6)}).sum.lsu_wavefronts);
}

TEST("totals: atomics several blocks aim at one granule add up over the launch") {
  BlockTrace a = trace(1), b = trace(1);
  a.granules = {{0x10000, 5}};
  b.granules = {{0x10000, 7}};
  CHECK_EQUAL(600u, launch_totals(100, {a, b}).hottest_granule_operations);
  b.granules[0].address = 0x20000;
  CHECK_EQUAL(7u, launch_totals(100, {a, b}).hottest_granule_operations);
}

TEST("totals: spread is the relative deviation of the instructions") {
  CHECK_EQUAL(0.5, launch_totals(2, {trace(1), trace(3)}).spread);
  CHECK_EQUAL(0.0, launch_totals(2, {trace(0), trace(0)}).spread);
}
