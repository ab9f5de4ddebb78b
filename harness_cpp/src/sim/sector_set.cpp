#include "sim/sector_set.hpp"

namespace cudaopt::sim {

SectorSet::SectorSet(std::uint64_t address, std::uint64_t bytes)
    : m_lead(address % kSectorBytes),
      m_words((m_lead + bytes + kSectorBytes - 1) / kSectorBytes / 64 + 1) {}

std::uint64_t SectorSet::bytes() const {
  std::uint64_t sectors = 0;
  for (const std::uint64_t word : m_words)
    sectors += static_cast<std::uint64_t>(__builtin_popcountll(word));
  return sectors * kSectorBytes;
}

}  // namespace cudaopt::sim
