#include "sim/access_cost.hpp"

#include <algorithm>
#include <array>

#include "sim/machine.hpp"

namespace cudaopt::sim {
namespace {

constexpr std::uint32_t kBanks = 32, kWordBytes = 4, kPhaseBytes = 128, kSectorShift = 5;

// The most words that lanes `first` to `end` want from one bank.
std::uint32_t busiest_bank(const std::uint64_t* addresses, std::uint32_t mask, int first, int end,
                           std::uint32_t words_per_lane) {
  std::array<std::array<std::uint64_t, kPhaseBytes / kWordBytes>, kBanks> words;
  std::array<std::uint32_t, kBanks> count{};
  std::uint32_t most = 0;
  for (int lane = first; lane < end; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    for (std::uint32_t k = 0; k < words_per_lane; ++k) {
      const std::uint64_t word = addresses[lane] / kWordBytes + k;
      auto& seen = words[word % kBanks];
      std::uint32_t& used = count[word % kBanks];
      if (std::find(seen.begin(), seen.begin() + used, word) != seen.begin() + used) continue;
      seen[used++] = word;
      most = std::max(most, used);
    }
  }
  return most;
}

}  // namespace

std::uint32_t count_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                            std::uint32_t bytes) {
  std::array<std::uint64_t, 2 * kLanes> sectors;
  std::size_t count = 0;
  bool ascending = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1u) == 0) continue;
    const std::uint64_t last = (addresses[lane] + bytes - 1) >> kSectorShift;
    for (std::uint64_t s = addresses[lane] >> kSectorShift; s <= last; ++s) {
      if (count > 0 && sectors[count - 1] == s) continue;
      ascending &= count == 0 || sectors[count - 1] < s;
      sectors[count++] = s;
    }
  }
  if (ascending) return static_cast<std::uint32_t>(count);
  std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
  const auto end =
      std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint32_t>(end - sectors.begin());
}

std::uint32_t count_wavefronts(const std::uint64_t* addresses, std::uint32_t mask,
                               std::uint32_t bytes) {
  const std::uint32_t words = std::max(bytes / kWordBytes, 1u);
  const int lanes_per_phase = static_cast<int>(kLanes / words);
  std::uint32_t wavefronts = 0;
  for (int first = 0; first < kLanes; first += lanes_per_phase) {
    wavefronts += busiest_bank(addresses, mask, first, first + lanes_per_phase, words);
  }
  return wavefronts;
}

}  // namespace cudaopt::sim
