#include "sim/launch_watch.hpp"

#include <algorithm>

namespace cudaopt::sim {

LaunchWatch::LaunchWatch(const Launch& launch, const CheckSpec& checks)
    : m_launch(launch),
      m_accesses(checks.accesses || checks.rounding),
      m_counts(checks.touched),
      m_arrays(launch.allocation_count),
      m_plans(launch.program->patterns),
      m_findings(launch) {
  for (std::size_t i = 1; i < m_arrays.size(); ++i)
    watch(m_arrays[i], launch.allocations[i], checks.touched);
}

// What a kernel cannot write is in no race.
void LaunchWatch::watch(WatchedArray& array, const Allocation& allocation, bool counted) {
  array.allocation = &allocation;
  const std::uint64_t lead = allocation.base % sizeof(std::uint64_t);
  array.origin = allocation.base - lead;
  array.host = allocation.host - lead;
  array.has_contents = allocation.has_contents;
  array.counted = counted;
  if (counted) array.sectors = SectorSet(array.origin, lead + allocation.bytes);
  if (!m_accesses || allocation.read_only) return;
  // Narrower accesses refine the cells. One byte may stand for an unknown size.
  const std::uint32_t element = allocation.element_bytes;
  const int shift = element > 1 ? std::min(2, __builtin_ctz(element)) : 2;
  const std::uint64_t more = AccessCells::memory_bytes(lead + allocation.bytes, shift);
  if (more > kCellBytes - std::min(kCellBytes, m_cell_bytes)) {
    m_notes.push_back("'" + allocation.name + "' is too large to look for races in it");
    return;
  }
  m_cell_bytes += more;
  array.tracked = true;
  array.cells = AccessCells(lead + allocation.bytes, shift);
}

// Past the last time nothing can be told apart any more: the checks end, and what was found stays.
Time LaunchWatch::tick() {
  if (m_now + 1 < kLeftBehind) return ++m_now;
  m_accesses = false;
  for (WatchedArray& array : m_arrays) array.tracked = false;
  return m_now;
}

void LaunchWatch::begin_turn(std::uint64_t block) {
  m_turn_of = block;
  m_turns.emplace_back(tick(), block);
}

std::uint64_t LaunchWatch::block_at(Time time) const {
  const auto after = std::upper_bound(
      m_turns.begin(), m_turns.end(), time,
      [](Time wanted, const std::pair<Time, std::uint64_t>& turn) { return wanted < turn.first; });
  return after == m_turns.begin() ? kNobody : std::prev(after)->second;
}

SyncLocation* LaunchWatch::find_location(std::uint64_t address) {
  if (m_locations.empty()) return nullptr;
  const auto found = m_locations.find(address);
  return found == m_locations.end() ? nullptr : &found->second;
}

std::vector<Finding> LaunchWatch::finish() {
  for (WatchedArray& array : m_arrays) {
    for (const UnwrittenReads::Read& read : array.unwritten.take()) {
      const Party at{read.block, stamp::warp(read.stamp), stamp::lane(read.stamp),
                     stamp::pc(read.stamp)};
      m_findings.add_unwritten(&array, read.offset, read.bytes, at);
    }
  }
  return m_findings.sorted();
}

std::optional<std::uint64_t> LaunchWatch::touched_bytes() const {
  if (!m_counts) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const WatchedArray& array : m_arrays) bytes += array.sectors.bytes();
  return bytes;
}

}  // namespace cudaopt::sim
