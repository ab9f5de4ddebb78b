#include "sim/barrier.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/block.hpp"
#include "sim/block_watch.hpp"
#include "sim/control.hpp"
#include "sim/fault.hpp"
#include "sim/frames.hpp"
#include "sim/paths.hpp"
#include "sim/tracer.hpp"

namespace cudaopt::sim {
namespace {

BarrierKind kind_of(const Op& op) { return static_cast<BarrierKind>(op.aux & 0xff); }
bool has_count(const Op& op) { return (op.aux & 0x100) != 0; }

const Op& op_at(const Warp& warp, std::int32_t pc) {
  return warp.launch->program->code[static_cast<std::size_t>(pc)];
}

bool waits_at_barrier(const Warp& warp, const Split& split) {
  return split.wait == Wait::barrier && (split.mask & warp.alive) != 0;
}

std::uint32_t first_lane_value(Warp& warp, std::int32_t offset, std::uint32_t mask) {
  return lanes<std::uint32_t>(warp, offset)[__builtin_ctz(mask)];
}

[[noreturn]] void fail_divergence(const Warp& warp, const Op& op, std::uint32_t waiting) {
  const auto count = [](std::uint32_t mask) { return std::to_string(__builtin_popcount(mask)); };
  FaultDetail detail;
  detail.kind = FaultKind::barrier_divergence;
  detail.message = "kernel '" + warp.launch->program->function->name + "': " + count(waiting) +
                   " threads of a warp wait at a barrier that the other " +
                   count(warp.alive & ~waiting) +
                   " do not reach; every thread of the block must execute the same barrier";
  fail(warp, op, __builtin_ctz(waiting), std::move(detail));
}

[[noreturn]] void fail_passed(const Warp& warp, const Op& op, const Leaving& left) {
  FaultDetail exit;
  add_source(*warp.launch->program, op_at(warp, left.pc), exit);
  const Dim3 thread = thread_index((*warp.block->warps)[left.warp], __builtin_ctz(left.lanes));
  FaultDetail detail;
  detail.kind = FaultKind::barrier_divergence;
  detail.message = "kernel '" + warp.launch->program->function->name +
                   "': threads wait at a barrier that thread (" + std::to_string(thread.x) + "," +
                   std::to_string(thread.y) + "," + std::to_string(thread.z) +
                   ") went past without it" +
                   (exit.at ? ", to its end at " + line_text(exit) : "") +
                   "; every thread of the block must execute the same barrier, or return before it";
  fail(warp, op, __builtin_ctz(warp.active), std::move(detail));
}

// The barrier is complete because some threads have exited: they must not have passed it by.
void check_left(const Block& block, const Barrier& barrier) {
  if (barrier.expected != 0 || block.left.empty()) return;
  for (const Warp& warp : *block.warps) {
    if ((barrier.waiting >> warp.index & 1u) == 0) continue;
    for (const Passing& passing : warp.launch->program->passing) {
      if (passing.barrier_pc != warp.barrier_pc) continue;
      for (const Leaving& left : block.left) {
        if (left.pc != passing.exit_pc) continue;
        if (passing.certain) fail_passed(warp, op_at(warp, warp.barrier_pc), left);
        if (block.watch != nullptr) block.watch->left_before(warp, left);
      }
    }
  }
}

void give_result(Warp& warp, const Op& op, std::uint32_t mask, const Barrier& barrier) {
  if (kind_of(op) < BarrierKind::popc) return;
  if (kind_of(op) == BarrierKind::popc) {
    std::uint32_t* to = lanes<std::uint32_t>(warp, op.dst[0]);
    for (int i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1u) != 0) to[i] = barrier.population;
    }
    return;
  }
  const bool holds = kind_of(op) == BarrierKind::all ? barrier.everyone : barrier.population > 0;
  std::uint32_t& to = warp.predicates[op.dst[0]];
  to = (to & ~mask) | (holds ? mask : 0);
}

// The paths of a warp that waited at several places go on one after another.
void resume_paths(Warp& warp, const Barrier& barrier) {
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    Split& split = warp.splits[i];
    if (!waits_at_barrier(warp, split)) continue;
    make_current(warp, *split.frame);
    give_result(warp, op_at(warp, split.pc), split.mask & warp.alive, barrier);
    split.wait = Wait::none;
    ++split.pc;
  }
  warp.parked = 0;
  warp.pc = next_split(warp);
}

void release(Block& block, Barrier& barrier, Counters& counters) {
  check_left(block, barrier);
  ++counters.barriers;
  if (block.watch != nullptr) {
    block.watch->barrier_released(static_cast<std::size_t>(&barrier - block.barriers.data()),
                                  barrier.waiting, barrier.expected == 0);
  }
  const Barrier complete = std::exchange(barrier, Barrier{});
  for (Warp& warp : *block.warps) {
    if ((complete.waiting >> warp.index & 1u) == 0) continue;
    warp.state = WarpState::running;
    warp.barrier = -1;
    if (warp.active == 0) {
      resume_paths(warp, complete);
    } else {
      give_result(warp, op_at(warp, warp.barrier_pc), warp.active, complete);
    }
  }
  if (block.tracer != nullptr) block.tracer->barrier_released(complete.waiting);
}

bool is_complete(const Block& block, const Barrier& barrier) {
  if (barrier.waiting == 0) return false;
  if (barrier.expected != 0) return barrier.arrived >= barrier.expected;
  for (const Warp& warp : *block.warps) {
    const bool waits = (barrier.waiting >> warp.index & 1u) != 0;
    if (warp.state != WarpState::exited && !waits) return false;
  }
  return true;
}

void add_vote(const Warp& warp, const Op& op, std::uint32_t mask, Barrier& barrier) {
  const std::size_t source = has_count(op) ? 2 : 1;
  std::uint32_t vote = warp.predicates[op.src[source]];
  if ((op.src_negated >> source & 1u) != 0) vote = ~vote;
  barrier.population += static_cast<std::uint32_t>(__builtin_popcount(vote & mask));
  barrier.everyone = barrier.everyone && (vote & mask) == mask;
}

std::uint32_t barrier_number(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t number = first_lane_value(warp, op.src[0], mask);
  if (number < kBarriers) return number;
  FaultDetail detail;
  detail.kind = FaultKind::launch_error;
  detail.message = "barrier " + std::to_string(number) + " does not exist, a block has 16";
  fail(warp, op, __builtin_ctz(mask), std::move(detail));
}

// Lanes arrive; the warp counts once, when its last ones do.
void add_arrival(Warp& warp, const Op& op, std::uint32_t mask, Barrier& barrier) {
  if (has_count(op)) barrier.expected = first_lane_value(warp, op.src[1], mask);
  if (kind_of(op) >= BarrierKind::popc) add_vote(warp, op, mask, barrier);
}

void wait_at(Warp& warp, const Op& op, std::uint32_t number) {
  warp.block->barriers[number].waiting |= 1u << warp.index;
  warp.state = WarpState::at_barrier;
  warp.barrier = static_cast<std::int32_t>(number);
  warp.barrier_pc = op.pc;
}

std::int32_t arrive(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t number = barrier_number(warp, op, mask);
  Block& block = *warp.block;
  Barrier& barrier = block.barriers[number];
  add_arrival(warp, op, mask, barrier);
  barrier.arrived += kLanes;
  if (kind_of(op) != BarrierKind::arrive) wait_at(warp, op, number);
  if (kind_of(op) == BarrierKind::arrive && block.watch != nullptr)
    block.watch->arrived(warp, number);
  if (is_complete(block, barrier)) release(block, barrier, *warp.counters);
  return op.pc + 1;
}

// The lanes of the warp stand at different instructions for one barrier.
std::int32_t arrive_apart(Warp& warp) {
  std::int32_t number = -1;
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& split = warp.splits[i];
    if (!waits_at_barrier(warp, split)) continue;
    const Op& op = op_at(warp, split.pc);
    const std::uint32_t mask = split.mask & warp.alive;
    make_current(warp, *split.frame);
    const auto its = static_cast<std::int32_t>(barrier_number(warp, op, mask));
    if (number >= 0 && its != number) fail_divergence(warp, op, mask);
    number = its;
    add_arrival(warp, op, mask, warp.block->barriers[static_cast<std::size_t>(its)]);
    wait_at(warp, op, static_cast<std::uint32_t>(its));
  }
  Barrier& barrier = warp.block->barriers[static_cast<std::size_t>(number)];
  barrier.arrived += kLanes;
  warp.pc = -1;
  if (is_complete(*warp.block, barrier)) release(*warp.block, barrier, *warp.counters);
  return warp.pc;
}

bool is_end(const Warp& warp, std::int32_t join) {
  const std::vector<std::int32_t>& ends = warp.launch->program->ends;
  return std::find(ends.begin(), ends.end(), warp.splits[join].pc) != ends.end();
}

// What the parked lanes of a warp have in common.
struct Parked {
  const Op* op = nullptr;  // an aligned one, if there is one
  Frame* frame = nullptr;
  std::uint32_t lanes = 0;
  bool one_place = true;
};

Parked parked_at_barriers(const Warp& warp) {
  Parked parked;
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& split = warp.splits[i];
    if (!waits_at_barrier(warp, split)) continue;
    const Op& op = op_at(warp, split.pc);
    const bool here = parked.op == nullptr || parked.op->pc == op.pc;
    const bool same_call = parked.frame == nullptr || parked.frame == split.frame;
    parked.one_place = parked.one_place && here && same_call;
    parked.frame = split.frame;
    if (parked.op == nullptr || is_aligned(op)) parked.op = &op;
    parked.lanes |= split.mask & warp.alive;
  }
  return parked;
}

}  // namespace

std::int32_t reach_barrier(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask == warp.alive) return arrive(warp, op, mask);
  if (mask != warp.active) fail_divergence(warp, op, mask);
  push_path(warp, {op.pc, mask, warp.reconverge, Wait::barrier, warp.frame, nullptr});
  warp.parked |= mask;
  const Parked parked = parked_at_barriers(warp);
  if (!parked.one_place && is_aligned(*parked.op)) fail_divergence(warp, op, mask);
  return next_split(warp);
}

std::int32_t unite_parked(Warp& warp) {
  const Parked parked = parked_at_barriers(warp);
  if (parked.lanes != warp.alive) {
    const std::int32_t join = waiting_join(warp);
    const bool may_part = join >= 0 && (!is_aligned(*parked.op) || is_end(warp, join));
    if (!may_part) fail_divergence(warp, *parked.op, parked.lanes);
    return run_path(warp, part_from_join(warp, join));
  }
  if (!parked.one_place) return arrive_apart(warp);
  warp.parked = 0;
  make_current(warp, *parked.frame);
  forget_partings(warp);
  warp.active = warp.alive;
  return arrive(warp, *parked.op, warp.active);
}

void note_leaving(Warp& warp, const Op& op, std::uint32_t mask) {
  for (Leaving& left : warp.block->left) {
    if (left.pc != op.pc || left.warp != warp.index) continue;
    left.lanes |= mask;
    return;
  }
  warp.block->left.push_back({op.pc, warp.index, mask});
}

void leave_block(Warp& warp) {
  Block& block = *warp.block;
  for (Barrier& barrier : block.barriers) {
    if (is_complete(block, barrier)) release(block, barrier, *warp.counters);
  }
}

}  // namespace cudaopt::sim
