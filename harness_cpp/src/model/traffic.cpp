#include "model/traffic.hpp"

#include <algorithm>

namespace cudaopt::model {
namespace {

constexpr double kSectorBytes = 32, kUnitBytes = 64;

double bytes_of(const LaunchShape& launch, std::uint64_t base) {
  for (const ArrayFootprint& array : launch.arrays) {
    if (array.base == base) return static_cast<double>(array.bytes);
  }
  return 1e18;  // a module's own variable: no bound but what was touched
}

// Bytes of one kind of access to one array.
struct Footprint {
  double by_blocks = 0;  // each block's distinct bytes, added up
  double distinct = 0;   // of the launch
  double resident = 0;   // of the blocks that run at the same time
};

Footprint footprint(std::uint64_t units, double array_bytes, double resident_share) {
  Footprint result;
  result.by_blocks = static_cast<double>(units) * kUnitBytes;
  // Units are whole: an array may end inside its last one.
  const double whole = array_bytes + kUnitBytes;
  result.distinct = std::min(result.by_blocks, whole);
  result.resident = std::min(result.by_blocks * resident_share, whole);
  return result;
}

// Summed over the arrays of a launch.
struct Footprints {
  Footprint reads;
  double read_in_waves = 0;  // bytes, when every wave of blocks has to fetch its reads anew
  double first_sectors = 0;  // read for the first time by a block
  double saved_sectors = 0;  // of these, already in L1 for another block of the SM
  double written = 0, filled = 0, resident = 0;  // bytes
};

// Blocks of one SM that read the same sectors find them in L1. A sector has `by_blocks / distinct`
// readers among all blocks; spread evenly, that share of its neighbours reads it too.
double share_in_l1(const Footprint& read, std::uint64_t blocks, std::uint64_t blocks_per_sm) {
  if (read.distinct <= 0 || blocks < 2) return 0;
  const double others = (read.by_blocks / read.distinct - 1) / static_cast<double>(blocks - 1);
  return 1 - 1 / (1 + static_cast<double>(blocks_per_sm - 1) * others);
}

Footprints footprints(const LaunchShape& launch, const LaunchTotals& totals, double resident_share,
                      std::uint64_t blocks_per_sm) {
  Footprints sums;
  for (const ArrayTouch& array : totals.sum.touched) {
    const double bytes = bytes_of(launch, array.base);
    const Footprint read = footprint(array.read_units, bytes, resident_share);
    const Footprint written = footprint(array.written_units, bytes, resident_share);
    const auto first = static_cast<double>(array.read_sectors);
    sums.reads.by_blocks += read.by_blocks;
    sums.reads.distinct += read.distinct;
    sums.read_in_waves +=
        std::min(read.by_blocks, std::max(read.distinct, read.resident / resident_share));
    sums.first_sectors += first;
    sums.saved_sectors += first * share_in_l1(read, totals.blocks, blocks_per_sm);
    sums.written += written.distinct;
    sums.filled += footprint(array.filled_units, bytes, resident_share).distinct;
    sums.resident += read.resident + written.resident;
  }
  return sums;
}

}  // namespace

Traffic traffic_of(const DeviceTable& table, const LaunchShape& launch, const LaunchTotals& totals,
                   std::uint64_t resident_blocks, std::uint64_t blocks_per_sm) {
  const double resident_share =
      static_cast<double>(resident_blocks) / static_cast<double>(totals.blocks);
  const Footprints sums = footprints(launch, totals, resident_share, blocks_per_sm);
  const auto l2_capacity = static_cast<double>(table.l2_bytes);
  const auto misses = static_cast<double>(totals.sum.l2_read_sectors);
  Traffic traffic;
  if (sums.resident > l2_capacity) traffic.spilled_share = 1 - l2_capacity / sums.resident;
  if (sums.reads.by_blocks > 0) traffic.cold_share = sums.reads.distinct / sums.reads.by_blocks;
  const bool fits = sums.reads.distinct <= l2_capacity;
  const double repeats = std::max(0.0, misses - sums.first_sectors) * kSectorBytes;
  traffic.dram_bytes = (fits ? sums.reads.distinct : sums.read_in_waves) + sums.written +
                       sums.filled + repeats * traffic.spilled_share;
  // Atomics read sectors without missing L1: what is saved cannot exceed what was missed.
  traffic.l2_bytes = (std::max(0.0, misses - sums.saved_sectors) +
                      static_cast<double>(totals.sum.l2_written_sectors)) *
                     kSectorBytes;
  traffic.l2_partial_sectors = static_cast<double>(totals.sum.l2_partial_sectors);
  return traffic;
}

}  // namespace cudaopt::model
