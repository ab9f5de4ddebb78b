// Where the launch's memory traffic ends: what L2 serves and what DRAM has to move.
#pragma once

#include <cstdint>

#include "model/latency.hpp"
#include "model/totals.hpp"

namespace cudaopt::model {

struct Traffic {
  double dram_bytes = 0;
  double l2_bytes = 0;  // whole sectors to and from the SMs
  double l2_partial_sectors = 0;
  double cold_share = 1;     // of the blocks' first touches, those that no other block made
  double spilled_share = 0;  // of repeated L1 misses, those that L2 no longer holds
};

// `resident_blocks` run at the same time, `blocks_per_sm` of them on an SM; caches start cold.
[[nodiscard]] Traffic traffic_of(const DeviceTable& table, const LaunchShape& launch,
                                 const LaunchTotals& totals, std::uint64_t resident_blocks,
                                 std::uint64_t blocks_per_sm);

}  // namespace cudaopt::model
