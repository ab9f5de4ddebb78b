// Who has a turn when: the order of a grid's blocks and of a block's warps, and how long each runs.
// Every order is one a GPU could choose.
#pragma once

#include <cstdint>
#include <vector>

#include "device.hpp"

namespace cudaopt::sim {

// Instructions a warp executes before the next one has its turn: short enough that warps walk
// through memory side by side, as on hardware.
inline constexpr std::uint32_t kSlice = 256;

// The block that starts as number `index` of `count`. GPUs start blocks in ascending order, and
// kernels may rely on it that all below have started; but `window` of them run at once, in any
// order. So only these change places.
[[nodiscard]] std::uint64_t block_at(const Order& order, std::uint64_t count, std::uint64_t window,
                                     std::uint64_t index);

// The same numbers on every host.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : m_state(seed) {}
  std::uint64_t next();
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t m_state;
};

// The turns of one block's warps.
class Turns {
 public:
  Turns(const Order& order, std::uint32_t warps);

  void begin(std::uint64_t block);
  // The warps in the order of this round.
  [[nodiscard]] const std::vector<std::uint32_t>& next_round();
  // How many instructions the next warp may execute.
  [[nodiscard]] std::uint32_t slice();
  // Whether its diverged lanes now take turns, though they need not.
  [[nodiscard]] bool yields();

 private:
  Order m_order;
  RandomNumbers m_random{0};
  std::vector<std::uint32_t> m_warps;
};

}  // namespace cudaopt::sim
