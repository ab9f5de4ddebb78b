// Which 32-byte sectors of one array a launch touched, one bit each.
#pragma once

#include <cstdint>
#include <vector>

namespace cudaopt::sim {

class SectorSet {
 public:
  static constexpr std::uint64_t kSectorBytes = 32;

  SectorSet() = default;
  // Of an array of so many bytes that begins at this address.
  SectorSet(std::uint64_t address, std::uint64_t bytes);

  // `offset` is within the array; `bytes` is not 0.
  void touch(std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t first = (offset + m_lead) / kSectorBytes;
    const std::uint64_t last = (offset + m_lead + bytes - 1) / kSectorBytes;
    for (std::uint64_t sector = first; sector <= last; ++sector)
      m_words[sector / 64] |= std::uint64_t{1} << sector % 64;
  }

  [[nodiscard]] std::uint64_t bytes() const;  // whole sectors

 private:
  std::uint64_t m_lead = 0;  // bytes of the first sector that lie before the array
  std::vector<std::uint64_t> m_words;
};

}  // namespace cudaopt::sim
