// The distinct sectors one block touched, and which of their bytes it wrote.
#pragma once

#include <cstdint>
#include <vector>

#include "model/latency.hpp"

namespace cudaopt::sim {

class TouchedSectors {
 public:
  TouchedSectors();

  // Both take the sector number (address / 32) and tell whether this is its first touch.
  bool read(std::uint64_t sector);
  bool write(std::uint64_t sector, std::uint32_t byte_mask);  // bit i: byte i of the sector

  // Ascending base; allocations are 2^40 apart.
  [[nodiscard]] std::vector<model::ArrayTouch> summary() const;

 private:
  // 16 bytes: one block may touch millions of sectors.
  struct Entry {
    std::uint64_t sector : 62;
    std::uint64_t read : 1;
    std::uint64_t used : 1;
    std::uint32_t written;
  };

  // The sector's entry; `first` tells whether it was made just now.
  Entry& touch(std::uint64_t sector, bool& first);
  [[nodiscard]] Entry& slot_of(std::uint64_t sector);
  void grow();
  [[nodiscard]] std::vector<Entry> sorted() const;

  std::vector<Entry> m_entries;  // open addressing, a power of two of them
  std::size_t m_used = 0;
};

}  // namespace cudaopt::sim
