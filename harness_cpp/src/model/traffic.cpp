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

// Bytes of one kind of access to one array: summed over blocks, and without what blocks share.
struct Footprint {
  double by_blocks = 0;  // each block's distinct bytes, added up
  double distinct = 0;   // of the launch
  double resident = 0;   // of the blocks that run at the same time
};

Footprint footprint(double units, double array_bytes, double resident_share) {
  Footprint result;
  result.by_blocks = units * kUnitBytes;
  // Units are whole: an array may end inside its last one.
  const double whole = array_bytes + kUnitBytes;
  result.distinct = std::min(result.by_blocks, whole);
  result.resident = std::min(result.by_blocks * resident_share, whole);
  return result;
}

}  // namespace

Traffic traffic_of(const DeviceTable& table, const LaunchShape& launch, const LaunchTotals& totals,
                   std::uint64_t resident_blocks) {
  const double resident_share =
      static_cast<double>(resident_blocks) / static_cast<double>(totals.blocks);
  const auto l2 = static_cast<double>(table.l2_bytes);
  Traffic traffic;
  double by_blocks = 0, distinct = 0, resident = 0, moved = 0, first_sectors = 0, waves_reads = 0;
  for (const ArrayTouch& array : totals.sum.touched) {
    const double bytes = bytes_of(launch, array.base);
    const Footprint read = footprint(static_cast<double>(array.read_units), bytes, resident_share);
    const Footprint written =
        footprint(static_cast<double>(array.written_units), bytes, resident_share);
    const Footprint filled =
        footprint(static_cast<double>(array.filled_units), bytes, resident_share);
    by_blocks += read.by_blocks;
    distinct += read.distinct;
    resident += read.resident + written.resident;
    first_sectors += static_cast<double>(array.read_sectors);
    // Beyond L2, what blocks share must be fetched again for every wave of blocks that uses it.
    waves_reads +=
        std::min(read.by_blocks, std::max(read.distinct, read.resident / resident_share));
    moved += written.distinct + filled.distinct;
  }
  const double repeats =
      std::max(0.0, static_cast<double>(totals.sum.l2_read_sectors) - first_sectors) * kSectorBytes;
  if (resident > l2) traffic.spilled_share = 1 - l2 / resident;
  traffic.cold_share = by_blocks > 0 ? distinct / by_blocks : 1;
  traffic.dram_bytes =
      (distinct > l2 ? waves_reads : distinct) + moved + repeats * traffic.spilled_share;
  traffic.l2_bytes =
      static_cast<double>(totals.sum.l2_read_sectors + totals.sum.l2_written_sectors) *
      kSectorBytes;
  traffic.l2_partial_sectors = static_cast<double>(totals.sum.l2_partial_sectors);
  return traffic;
}

}  // namespace cudaopt::model
