#include "sim/l1.hpp"

#include <algorithm>

namespace cudaopt::sim {

L1Cache::L1Cache(std::uint64_t bytes)
    : m_sets(std::max<std::uint64_t>(1, bytes / (kLineBytes * kWays))) {}

// Hardware hashes addresses so that power-of-two strides do not pile up in one set. Multiplying by
// the golden ratio spreads consecutive lines and strided ones alike.
L1Cache::Set& L1Cache::set_of(std::uint64_t line) {
  const std::uint64_t spread = (line * 0x9e3779b97f4a7c15u) >> 32;
  return m_sets[(spread * m_sets.size()) >> 32];
}

bool L1Cache::access(std::uint64_t address) {
  const std::uint64_t line = address / kLineBytes;
  const auto sector = static_cast<std::uint8_t>(1u << (address % kLineBytes / kSectorBytes));
  Set& set = set_of(line);
  ++m_accesses;
  auto way = std::find_if(set.begin(), set.end(), [&](const Way& w) { return w.line == line; });
  if (way == set.end()) {
    way = std::min_element(set.begin(), set.end(),
                           [](const Way& a, const Way& b) { return a.used < b.used; });
    *way = Way{line, 0, 0};
  }
  const bool hit = (way->sectors & sector) != 0;
  way->sectors |= sector;
  way->used = m_accesses;
  return hit;
}

void L1Cache::reset() {
  std::fill(m_sets.begin(), m_sets.end(), Set{});
  m_accesses = 0;
}

}  // namespace cudaopt::sim
