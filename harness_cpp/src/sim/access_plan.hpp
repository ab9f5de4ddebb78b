// Which cells the lanes of one memory instruction touch, worked out once per address pattern: runs
// of consecutive cells, each cell with the lanes that touch it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/access_stamp.hpp"
#include "sim/block.hpp"

namespace cudaopt::sim {

struct CellRun {
  std::int64_t first = 0;  // cell, counted from that of the first lane's first byte
  std::uint32_t count = 0;
  std::uint32_t lanes_at = 0;  // in AccessPlan::lanes
};

struct AccessPlan {
  std::vector<CellRun> runs;
  std::vector<Stamp> lanes;      // stamp::of_lanes, by cell of all runs
  bool shared_by_lanes = false;  // some cell is touched by several lanes

  // Whether the plan is for these addresses. If not it is made from the second time on that they
  // are seen: addresses that never repeat are not worth a plan.
  [[nodiscard]] bool fits(const AddressPattern& pattern, std::uint32_t bytes, int shift) {
    // Regular patterns share tables that never change.
    const bool same_table = pattern.expected == m_table && pattern.kind != PatternKind::general;
    if (m_made && same_table && m_mask == pattern.mask && m_bytes == bytes && m_shift == shift)
      return true;
    return fits_anew(pattern, bytes, shift);
  }

 private:
  [[nodiscard]] bool fits_anew(const AddressPattern& pattern, std::uint32_t bytes, int shift);
  void make(std::uint32_t bytes);
  [[nodiscard]] bool remembers(const AddressPattern& pattern, std::uint32_t bytes, int shift) const;
  void remember(const AddressPattern& pattern, std::uint32_t bytes, int shift);

  std::uint32_t m_mask = 0, m_bytes = 0;
  int m_shift = -1;
  bool m_made = false;
  const std::int32_t* m_table = nullptr;
  std::int32_t m_delta[kLanes]{};
};

}  // namespace cudaopt::sim
