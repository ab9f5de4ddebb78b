#include "sim/reconvergence.hpp"

#include <algorithm>

namespace cudaopt::sim {

std::vector<bool> returning_blocks(const ptx::Function& function, const ptx::ControlFlow& flow) {
  std::vector<bool> returning;
  for (const ptx::BasicBlock& block : flow.blocks) {
    const ptx::Instruction& first = function.instructions[static_cast<std::size_t>(block.first)];
    // Of a callee, `exit` ends the thread.
    const bool leaves = first.opcode == "ret" || (function.entry && first.opcode == "exit");
    returning.push_back(block.end == block.first + 1 && leaves && first.guard < 0);
  }
  return returning;
}

namespace {

bool reaches_exit(const ptx::ControlFlow& flow, std::size_t from) {
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::size_t> pending{from};
  seen[from] = true;
  while (!pending.empty()) {
    const std::size_t block = pending.back();
    pending.pop_back();
    for (const std::int32_t successor : flow.blocks[block].successors) {
      if (successor == ptx::kExit) return true;
      const auto next = static_cast<std::size_t>(successor);
      if (seen[next]) continue;
      seen[next] = true;
      pending.push_back(next);
    }
  }
  return false;
}

// Removes the ways of `block` that only return, unless they are its last way out of the kernel.
void drop_early_returns(ptx::ControlFlow& flow, std::size_t block,
                        const std::vector<bool>& returning) {
  std::vector<std::int32_t>& successors = flow.blocks[block].successors;
  const std::vector<std::int32_t> all = successors;
  const auto only_returns = [&](std::int32_t successor) {
    return successor == ptx::kExit || returning[static_cast<std::size_t>(successor)];
  };
  successors.erase(std::remove_if(successors.begin(), successors.end(), only_returns),
                   successors.end());
  if (successors.size() != all.size() && !reaches_exit(flow, block)) successors = all;
}

}  // namespace

std::vector<std::int32_t> meeting_blocks(const ptx::Function& function,
                                         const ptx::ControlFlow& flow) {
  const std::vector<bool> returning = returning_blocks(function, flow);
  ptx::ControlFlow thinned = flow;
  for (std::size_t i = 0; i < thinned.blocks.size(); ++i) drop_early_returns(thinned, i, returning);
  ptx::set_post_dominators(thinned);
  std::vector<std::int32_t> meeting;
  for (const ptx::BasicBlock& block : thinned.blocks) meeting.push_back(block.post_dominator);
  return meeting;
}

}  // namespace cudaopt::sim
