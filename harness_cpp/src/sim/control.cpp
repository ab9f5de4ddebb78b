#include "sim/control.hpp"

#include "sim/barrier.hpp"
#include "sim/block.hpp"

namespace cudaopt::sim {
namespace {

void push(Warp& warp, std::int32_t pc, std::uint32_t mask, std::int32_t reconverge) {
  warp.splits[warp.split_count++] = {pc, mask, reconverge};
}

// Both ways are taken. Lanes that already stand at the meeting point wait in the join's split.
std::int32_t diverge(Warp& warp, const Op& op, std::uint32_t taken, std::uint32_t rest) {
  ++warp.counters->divergent_branches;
  const std::int32_t meet = op.reconverge >= 0 ? op.reconverge : warp.reconverge;
  // Behind the inserted op, which has nothing to end for the lanes that met.
  if (meet != warp.reconverge) push(warp, meet + 1, warp.active, warp.reconverge);
  const std::int32_t next = op.pc + 1;
  warp.reconverge = meet;
  if (op.target == meet) {
    warp.active = rest;
    return next;
  }
  if (next != meet) push(warp, next, rest, meet);
  warp.active = taken;
  return op.target;
}

void remove_split(Warp& warp, std::int32_t index) {
  for (std::int32_t i = index; i + 1 < warp.split_count; ++i) warp.splits[i] = warp.splits[i + 1];
  --warp.split_count;
}

}  // namespace

std::int32_t branch_always(Warp&, const Op& op, std::uint32_t) { return op.target; }

std::int32_t branch_if(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t condition = warp.predicates[op.guard];
  const std::uint32_t taken = mask & (op.guard_negated ? ~condition : condition);
  if (taken == mask) return op.target;
  if (taken == 0) return op.pc + 1;
  return diverge(warp, op, taken, mask & ~taken);
}

std::int32_t exit_lanes(Warp& warp, const Op& op, std::uint32_t mask) {
  warp.alive &= ~mask;
  warp.active &= ~mask;
  if (warp.active != 0) return op.pc + 1;
  return next_split(warp);
}

std::int32_t join_lanes(Warp& warp, const Op& op, std::uint32_t mask) {
  ++warp.block->inserted;
  warp.counters->lane_instructions -= static_cast<std::uint32_t>(__builtin_popcount(mask));
  if (warp.reconverge != op.pc) return op.pc + 1;
  return next_split(warp);
}

// A split with parked lanes is a join that waits for them: it stays, and the search goes deeper.
std::int32_t next_split(Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    const Split split = warp.splits[i];
    if ((split.mask & warp.parked) != 0) continue;
    remove_split(warp, i);
    if ((split.mask & warp.alive) == 0) continue;
    warp.active = split.mask & warp.alive;
    warp.reconverge = split.reconverge;
    return split.pc;
  }
  warp.active = 0;
  if (warp.alive == 0) {
    warp.state = WarpState::exited;
    leave_block(warp);
    return -1;
  }
  return unite_parked(warp);
}

}  // namespace cudaopt::sim
