#include "sim/access_plan.hpp"

#include <algorithm>
#include <cstring>

namespace cudaopt::sim {

bool AccessPlan::remembers(const AddressPattern& pattern, std::uint32_t bytes, int shift) const {
  return m_mask == pattern.mask && m_bytes == bytes && m_shift == shift &&
         std::memcmp(m_delta, pattern.expected, sizeof m_delta) == 0;
}

void AccessPlan::remember(const AddressPattern& pattern, std::uint32_t bytes, int shift) {
  m_mask = pattern.mask;
  m_bytes = bytes;
  m_shift = shift;
  m_made = false;
  m_table = pattern.expected;
  std::memcpy(m_delta, pattern.expected, sizeof m_delta);
}

bool AccessPlan::fits_anew(const AddressPattern& pattern, std::uint32_t bytes, int shift) {
  if (!remembers(pattern, bytes, shift)) {
    remember(pattern, bytes, shift);
    if (pattern.kind == PatternKind::general) return false;
  }
  if (!m_made) make(bytes);
  return true;
}

void AccessPlan::make(std::uint32_t bytes) {
  struct Touch {
    std::int64_t cell;
    std::uint32_t lane;
  };
  std::vector<Touch> touches;
  for (std::uint32_t rest = m_mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    const std::int64_t first = m_delta[lane] >> m_shift;
    for (std::int64_t k = 0; k < bytes >> m_shift; ++k) touches.push_back({first + k, lane});
  }
  std::stable_sort(touches.begin(), touches.end(),
                   [](const Touch& a, const Touch& b) { return a.cell < b.cell; });
  runs.clear();
  lanes.clear();
  shared_by_lanes = false;
  for (std::size_t i = 0; i < touches.size();) {
    std::size_t end = i + 1;
    while (end < touches.size() && touches[end].cell == touches[i].cell) ++end;
    const bool follows = !runs.empty() && runs.back().first + runs.back().count == touches[i].cell;
    if (!follows) runs.push_back({touches[i].cell, 0, static_cast<std::uint32_t>(lanes.size())});
    ++runs.back().count;
    lanes.push_back(stamp::of_lanes(touches[i].lane, touches[end - 1].lane));
    shared_by_lanes = shared_by_lanes || end - i > 1;
    i = end;
  }
  m_made = true;
}

}  // namespace cudaopt::sim
