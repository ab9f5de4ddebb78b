// The data cache of one SM: 128-byte lines of four 32-byte sectors, four ways, least recently used.
// Only loads come here: stores write through to L2 and allocate nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudaopt::sim {

inline constexpr std::uint64_t kSectorBytes = 32, kLineBytes = 128;

class L1Cache {
 public:
  static constexpr std::size_t kWays = 4;

  // Holds `bytes` rounded down to whole sets of four lines, at least one set.
  explicit L1Cache(std::uint64_t bytes);

  // Looks up the sector holding `address` and makes it present. True: it was.
  [[nodiscard]] bool access(std::uint64_t address);

  void reset();

 private:
  struct Way {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint64_t used = 0;  // access number of the last use
    std::uint8_t sectors = 0;
  };
  using Set = std::array<Way, kWays>;

  [[nodiscard]] Set& set_of(std::uint64_t line);

  std::vector<Set> m_sets;
  std::uint64_t m_accesses = 0;
};

}  // namespace cudaopt::sim
