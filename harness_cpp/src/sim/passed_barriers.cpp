#include "sim/passed_barriers.hpp"

#include <algorithm>

#include "sim/barrier.hpp"
#include "sim/control.hpp"

namespace cudaopt::sim {
namespace {

bool reaches(const ptx::ControlFlow& flow, std::int32_t from, std::int32_t to) {
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::int32_t> pending{from};
  while (!pending.empty()) {
    const auto block = static_cast<std::size_t>(pending.back());
    pending.pop_back();
    for (const std::int32_t successor : flow.blocks[block].successors) {
      if (successor == to) return true;
      if (successor == ptx::kExit || seen[static_cast<std::size_t>(successor)]) continue;
      seen[static_cast<std::size_t>(successor)] = true;
      pending.push_back(successor);
    }
  }
  return false;
}

// The block of an exit, or the one before that falls through to its return; -1: none.
std::int32_t leaving_block(const ptx::ControlFlow& flow, const std::vector<bool>& returning,
                           std::int32_t block) {
  if (!returning[static_cast<std::size_t>(block)]) return block;
  if (block == 0) return -1;
  const auto& before = flow.blocks[static_cast<std::size_t>(block) - 1].successors;
  return std::find(before.begin(), before.end(), block) != before.end() ? block - 1 : -1;
}

bool lies_behind(const ptx::ControlFlow& flow, const std::vector<std::int32_t>& meeting,
                 std::int32_t exit, std::int32_t barrier) {
  std::int32_t block = meeting[static_cast<std::size_t>(barrier)];
  while (block != ptx::kExit && block != exit) block = meeting[static_cast<std::size_t>(block)];
  return block == exit && block != ptx::kExit && !reaches(flow, exit, barrier);
}

}  // namespace

std::vector<Passing> passed_barriers(const ptx::ControlFlow& flow,
                                     const std::vector<std::int32_t>& meeting,
                                     const std::vector<bool>& returning,
                                     const std::vector<bool>& ends, const std::vector<Op>& code) {
  std::vector<Passing> passing;
  const auto block_of = [&](const Op& op) {
    return flow.block_of[static_cast<std::size_t>(op.instruction)];
  };
  for (const Op& barrier : code) {
    if (barrier.full != reach_barrier || !is_aligned(barrier)) continue;
    for (const Op& exit : code) {
      if (exit.full != exit_lanes || exit.instruction < 0) continue;
      const std::int32_t from = leaving_block(flow, returning, block_of(exit));
      if (from < 0 || from == block_of(barrier)) continue;
      if (lies_behind(flow, meeting, from, block_of(barrier))) {
        passing.push_back({barrier.pc, exit.pc, !ends[static_cast<std::size_t>(from)]});
      }
    }
  }
  return passing;
}

}  // namespace cudaopt::sim
