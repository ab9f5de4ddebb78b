#include "sim/control.hpp"

#include <algorithm>
#include <string>

#include "sim/barrier.hpp"
#include "sim/block.hpp"
#include "sim/fault.hpp"
#include "sim/frames.hpp"

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

void remove_split(Warp& warp, std::int32_t index) {
  const auto begin = warp.splits.begin() + index;
  Frame* const returning = begin->returning;
  std::copy(begin + 1, warp.splits.begin() + warp.split_count, begin);
  --warp.split_count;
  if (returning != nullptr) warp.block->frames->leave(warp, *returning);
}

bool is_caller(const Frame* frame, const Frame* of) {
  while (of != nullptr && of != frame) of = of->caller;
  return of != nullptr;
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
  if (warp.active != 0) return op.pc + 1;
  return next_split(warp);
}

std::int32_t join_lanes(Warp& warp, const Op& op, std::uint32_t mask) {
  ++warp.block->inserted;
  warp.counters->lane_instructions -= static_cast<std::uint32_t>(__builtin_popcount(mask));
  if (warp.reconverge != op.pc) return op.pc + 1;
  return next_split(warp);
}

void push_split(Warp& warp, const Split& split) {
  const auto count = static_cast<std::size_t>(warp.split_count++);
  if (count == warp.splits.size()) warp.splits.resize(2 * count);
  warp.splits[count] = split;
}

void split_off(Warp& warp, std::int32_t pc, std::uint32_t rest, std::int32_t meet) {
  // Behind the inserted op, which has nothing to end for the lanes that met.
  if (meet != warp.reconverge) {
    push_split(warp, {meet + 1, warp.active, warp.reconverge, warp.frame, nullptr});
  }
  warp.reconverge = meet;
  if (rest != 0) push_split(warp, {pc, rest, meet, warp.frame, nullptr});
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

// A split with parked lanes is a join that waits for them: it stays, and the search goes deeper.
std::int32_t next_split(Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    const Split split = warp.splits[static_cast<std::size_t>(i)];
    if ((split.mask & warp.parked) != 0) continue;
    remove_split(warp, i);
    if ((split.mask & warp.alive) == 0) continue;
    if (split.frame != warp.frame) make_current(warp, *split.frame);
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
