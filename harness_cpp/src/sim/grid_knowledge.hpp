// What a warp knows of other blocks: up to when each of their warps' accesses come before its own.
// A value: copies share their parts, and joining two that are alike costs little. That makes ten
// thousand blocks that learn of each other one after another affordable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "sim/access_stamp.hpp"

namespace cudaopt::sim {

// By warp of one block: accesses before this time are known.
using Until = std::array<Time, kLanes>;

// Takes the later of each; true if `into` changed.
bool join(Until& into, const Until& other);

class GridKnowledge {
 public:
  [[nodiscard]] bool empty() const { return m_root == nullptr; }
  // nullptr: nothing is known of the block.
  [[nodiscard]] const Until* of(std::uint64_t block) const;

  void join(const GridKnowledge& other);
  void join(std::uint64_t block, const Until& until);

 private:
  struct Node;
  using Shared = std::shared_ptr<const Node>;
  static constexpr int kFanOutBits = 5, kLevels = 7;  // 2^35 blocks

  [[nodiscard]] static Shared joined(const Shared& a, const Shared& b);
  [[nodiscard]] static Shared joined_leaf(const Shared& a, const Shared& b);
  [[nodiscard]] static Shared inserted(const Shared& node, int level, std::uint64_t block,
                                       const Until& until);

  Shared m_root;
};

}  // namespace cudaopt::sim
