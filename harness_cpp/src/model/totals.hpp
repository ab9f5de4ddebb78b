// From sampled blocks to the whole launch: weighted sums of what the traces counted.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/latency.hpp"

namespace cudaopt::model {

// Sums over the launch. When not every block was sampled, the first and the last trace stand for
// themselves (edge blocks differ) and those between them for all others.
struct LaunchTotals {
  std::uint64_t blocks = 0;
  BlockTrace sum;                   // counters and counts; critical_* stay 0, see below
  double mean_critical_cycles = 0;  // weighted means over the blocks
  double mean_first_misses = 0, mean_repeat_misses = 0;
  std::uint64_t hottest_granule_operations = 0;
  double spread = 0;  // relative standard deviation of the blocks' instructions
};

[[nodiscard]] LaunchTotals launch_totals(std::uint64_t blocks,
                                         const std::vector<BlockTrace>& traces);

}  // namespace cudaopt::model
