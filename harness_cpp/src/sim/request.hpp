// One warp's memory instruction as the memory pipeline sees it: sectors, lines, passes, addresses.
#pragma once

#include <array>
#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

struct LaneAddresses {
  std::array<std::uint64_t, kLanes> address{};
  std::uint32_t mask = 0;   // lanes that take part; never 0
  std::uint32_t bytes = 0;  // each; up to 32 and naturally aligned, so none straddles two sectors
};

struct SectorBytes {
  std::uint64_t sector = 0;     // address / 32
  std::uint32_t byte_mask = 0;  // bytes of it that the request touches
};

// Distinct sectors in ascending order.
class SectorList {
 public:
  explicit SectorList(const LaneAddresses& lanes);

  [[nodiscard]] const SectorBytes* begin() const { return m_sectors.data(); }
  [[nodiscard]] const SectorBytes* end() const { return m_sectors.data() + m_count; }
  [[nodiscard]] std::uint64_t lines() const;  // of 128 bytes

 private:
  void add(SectorBytes touched);
  void merge_equal();

  std::array<SectorBytes, kLanes> m_sectors;
  std::size_t m_count = 0;
};

// Passes through the banks of shared memory. One address for all lanes is one pass, however wide.
[[nodiscard]] std::uint64_t shared_passes(const LaneAddresses& lanes);

// Remembers the passes of one instruction's last addresses: most repeat their pattern at another
// base, which turns the banks but changes no conflict.
class PassMemo {
 public:
  [[nodiscard]] std::uint64_t passes(const LaneAddresses& lanes);

 private:
  LaneAddresses m_pattern;  // relative to the word of the first lane
  std::uint64_t m_passes = 0;
};

[[nodiscard]] std::uint64_t distinct_addresses(const LaneAddresses& lanes);

}  // namespace cudaopt::sim
