#include "sim/barrier.hpp"

#include <string>

#include "sim/block.hpp"
#include "sim/block_watch.hpp"
#include "sim/control.hpp"
#include "sim/tracer.hpp"

namespace cudaopt::sim {
namespace {

BarrierKind kind_of(const Op& op) { return static_cast<BarrierKind>(op.aux & 0xff); }
bool has_count(const Op& op) { return (op.aux & 0x100) != 0; }

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

void give_result(Warp& warp, const Op& op, const Barrier& barrier) {
  const std::uint32_t mask = warp.active;
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

void release(Block& block, Barrier& barrier, Counters& counters) {
  ++counters.barriers;
  if (block.watch != nullptr) {
    block.watch->barrier_released(static_cast<std::size_t>(&barrier - block.barriers.data()),
                                  barrier.waiting);
  }
  for (Warp& warp : *block.warps) {
    if ((barrier.waiting >> warp.index & 1u) == 0) continue;
    const Op& op = warp.launch->program->code[static_cast<std::size_t>(warp.barrier_pc)];
    if (kind_of(op) >= BarrierKind::popc) give_result(warp, op, barrier);
    warp.state = WarpState::running;
    warp.barrier = -1;
  }
  if (block.tracer != nullptr) block.tracer->barrier_released(barrier.waiting);
  barrier = Barrier{};
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

std::int32_t arrive(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t number = first_lane_value(warp, op.src[0], mask);
  if (number >= kBarriers) {
    FaultDetail detail;
    detail.kind = FaultKind::launch_error;
    detail.message = "barrier " + std::to_string(number) + " does not exist, a block has 16";
    fail(warp, op, __builtin_ctz(mask), std::move(detail));
  }
  Block& block = *warp.block;
  Barrier& barrier = block.barriers[number];
  if (has_count(op)) barrier.expected = first_lane_value(warp, op.src[1], mask);
  barrier.arrived += kLanes;
  if (kind_of(op) >= BarrierKind::popc) add_vote(warp, op, mask, barrier);
  if (kind_of(op) != BarrierKind::arrive) {
    barrier.waiting |= 1u << warp.index;
    warp.state = WarpState::at_barrier;
    warp.barrier = static_cast<std::int32_t>(number);
    warp.barrier_pc = op.pc;
  }
  if (kind_of(op) == BarrierKind::arrive && block.watch != nullptr)
    block.watch->arrived(warp, number);
  if (is_complete(block, barrier)) release(block, barrier, *warp.counters);
  return op.pc + 1;
}

}  // namespace

std::int32_t reach_barrier(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask == warp.alive) return arrive(warp, op, mask);
  const bool another = warp.parked != 0 && warp.parked_pc != op.pc;
  if (mask != warp.active || another || kind_of(op) == BarrierKind::arrive) {
    fail_divergence(warp, op, mask);
  }
  warp.parked |= mask;
  warp.parked_pc = op.pc;
  return next_split(warp);
}

std::int32_t unite_parked(Warp& warp) {
  const Op& op = warp.launch->program->code[static_cast<std::size_t>(warp.parked_pc)];
  const std::uint32_t waiting = warp.parked & warp.alive;
  if (waiting != warp.alive) fail_divergence(warp, op, waiting);
  warp.parked = 0;
  warp.split_count = 0;
  warp.active = warp.alive;
  warp.reconverge = -1;
  return arrive(warp, op, warp.active);
}

void leave_block(Warp& warp) {
  Block& block = *warp.block;
  for (Barrier& barrier : block.barriers) {
    if (is_complete(block, barrier)) release(block, barrier, *warp.counters);
  }
}

}  // namespace cudaopt::sim
