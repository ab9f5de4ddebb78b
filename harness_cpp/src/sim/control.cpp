#include "sim/control.hpp"

#include "sim/barrier.hpp"
#include "sim/block.hpp"
#include "sim/members.hpp"
#include "sim/paths.hpp"

namespace cudaopt::sim {
namespace {

// Both ways are taken. Lanes that already stand at the meeting point wait in the join's split.
std::int32_t diverge(Warp& warp, const Op& op, std::uint32_t taken, std::uint32_t rest) {
  ++warp.counters->divergent_branches;
  const std::int32_t meet = op.reconverge >= 0 ? op.reconverge : warp.reconverge;
  // Behind the inserted op, which has nothing to end for the lanes that met.
  if (meet != warp.reconverge) push_path(warp, {meet + 1, warp.active, warp.reconverge});
  const std::int32_t next = op.pc + 1;
  warp.reconverge = meet;
  if (op.target == meet) {
    warp.active = rest;
    return next;
  }
  if (next != meet) push_path(warp, {next, rest, meet});
  warp.active = taken;
  return op.target;
}

// Whose turn it is while every lane waits for another: those of a warp-wide instruction first.
std::int32_t end_waiting(Warp& warp) {
  return waits_for_members(warp) ? look_for_members(warp) : unite_parked(warp);
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
  note_leaving(warp, op, mask);
  if (warp.parked != 0) stop_waiting_for(warp, mask);
  if (warp.active != 0) return op.pc + 1;
  return next_split(warp);
}

std::int32_t join_lanes(Warp& warp, const Op& op, std::uint32_t mask) {
  ++warp.block->inserted;
  warp.counters->lane_instructions -= static_cast<std::uint32_t>(__builtin_popcount(mask));
  if (warp.reconverge != op.pc) return op.pc + 1;
  return next_split(warp);
}

std::int32_t next_split(Warp& warp) {
  std::uint32_t above = 0;  // a join waits for the paths above it that hold lanes of its
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    const std::uint32_t living = warp.splits[i].mask & warp.alive;
    const bool can_run = warp.splits[i].wait == Wait::none && (living & above) == 0;
    if (can_run || living == 0) {
      const Split path = take_path(warp, i);
      if (living != 0) return run_path(warp, path);
    }
    above |= living;
  }
  warp.active = 0;
  if (warp.alive == 0) {
    warp.state = WarpState::exited;
    leave_block(warp);
    return -1;
  }
  return end_waiting(warp);
}

}  // namespace cudaopt::sim
