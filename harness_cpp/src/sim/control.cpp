#include "sim/control.hpp"

#include <string>

#include "sim/barrier.hpp"
#include "sim/block.hpp"
#include "sim/fault.hpp"
#include "sim/frames.hpp"
#include "sim/members.hpp"
#include "sim/paths.hpp"

namespace cudaopt::sim {
namespace {

// Both ways are taken. Lanes that already stand at the meeting point wait in the join's split.
std::int32_t diverge(Warp& warp, const Op& op, std::uint32_t taken, std::uint32_t rest) {
  ++warp.counters->divergent_branches;
  const std::int32_t meet = op.reconverge >= 0 ? op.reconverge : warp.reconverge;
  const std::int32_t next = op.pc + 1;
  const bool one_way = op.target == meet || next == meet;
  split_off(warp, next, one_way ? 0 : rest, meet);
  warp.active = op.target == meet ? rest : taken;
  return op.target == meet ? next : op.target;
}

bool is_caller(const Frame* frame, const Frame* of) {
  while (of != nullptr && of != frame) of = of->caller;
  return of != nullptr;
}

// Whose turn it is while every lane waits for another: those of a warp-wide instruction first.
std::int32_t end_waiting(Warp& warp) {
  return waits_for_members(warp) ? look_for_members(warp) : unite_parked(warp);
}

// brx.idx jumps nowhere for an index behind its table.
[[noreturn]] void fail_index(Warp& warp, const Op& op, int lane, std::size_t entries) {
  FaultDetail detail;
  detail.kind = FaultKind::launch_error;
  detail.message = "kernel '" + warp.launch->program->function->name + "' branches to entry " +
                   std::to_string(lanes<std::uint32_t>(warp, op.src[0])[lane]) + " of a table of " +
                   std::to_string(entries);
  fail(warp, op, lane, std::move(detail));
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

// The lanes of one target go; the others wait at the branch and choose anew.
std::int32_t branch_by_index(Warp& warp, const Op& op, std::uint32_t mask) {
  const auto& table = warp.launch->program->branch_tables[static_cast<std::size_t>(op.aux)];
  const std::uint32_t* indices = lanes<std::uint32_t>(warp, op.src[0]);
  const std::int32_t meet = op.reconverge >= 0 ? op.reconverge : warp.reconverge;
  std::uint32_t going = 0;
  std::int32_t target = -1;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (indices[lane] >= table.size()) fail_index(warp, op, lane, table.size());
    const std::int32_t own = table[indices[lane]];
    if (going == 0) target = own;
    if (own == target) going |= 1u << lane;
  }
  if (going == warp.active) return target;
  ++warp.counters->divergent_branches;
  const std::uint32_t fall_through = warp.active & ~mask;
  const std::uint32_t waiting = mask & ~going;
  split_off(warp, op.pc, waiting, meet);
  if (fall_through != 0 && op.pc + 1 != meet) split_off(warp, op.pc + 1, fall_through, meet);
  warp.active = going;
  return target == meet ? next_split(warp) : target;
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

void split_off(Warp& warp, std::int32_t pc, std::uint32_t rest, std::int32_t meet) {
  // Behind the inserted op, which has nothing to end for the lanes that met.
  if (meet != warp.reconverge) push_path(warp, running_path(warp, meet + 1));
  warp.reconverge = meet;
  if (rest == 0) return;
  Split path = running_path(warp, pc);
  path.mask = rest;
  push_path(warp, path);
}

void forget_partings(Warp& warp) {
  std::int32_t kept = 0;
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    Split split = warp.splits[static_cast<std::size_t>(i)];
    if (split.returning == nullptr) continue;
    if (!is_caller(split.returning, warp.frame)) {
      warp.block->frames->leave(warp, *split.returning);
      continue;
    }
    split.reconverge = -1;
    warp.splits[static_cast<std::size_t>(kept++)] = split;
  }
  warp.split_count = kept;
  warp.reconverge = -1;
}

std::int32_t next_split(Warp& warp) {
  std::uint32_t above = 0;  // a join waits for the paths above it that hold lanes of its
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    const Split& split = warp.splits[static_cast<std::size_t>(i)];
    const std::uint32_t living = split.mask & warp.alive;
    const bool can_run = split.wait == Wait::none && (living & above) == 0;
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
