#include "sim/joint_execution.hpp"

#include "sim/block.hpp"
#include "sim/frames.hpp"
#include "sim/members.hpp"
#include "sim/paths.hpp"
#include "sim/shadow.hpp"

namespace cudaopt::sim {
namespace {

constexpr std::size_t kSources = 5, kResults = 2;
constexpr std::int32_t kSlotBytes = 256;  // of the widest

// Registers that hold the operands of all lanes, and nothing else.
struct Gathered {
  alignas(64) std::uint8_t registers[(kSources + kResults) * kSlotBytes] = {};
  std::uint32_t predicates[kSources + kResults] = {};
};

// How operand `k` is held: sources first, then results.
Slot slot_of(const Op& op, std::size_t k) {
  if (k == 0) return first_slot(op);
  if (k == kSources) return result_slot(op);
  return k == kSources + 1 ? Slot::predicate : Slot::b32;
}

void copy_lanes(const std::uint8_t* from, std::uint8_t* to, Slot slot, std::uint32_t mask) {
  const std::size_t bytes = slot == Slot::b64 ? 8 : 4;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::size_t at = static_cast<std::size_t>(__builtin_ctz(rest)) * bytes;
    std::memcpy(to + at, from + at, bytes);
  }
}

void gather(const Warp& warp, const Split& split, Gathered& gathered) {
  const Op& op = op_of(warp, split);
  const Frame& frame = *split.frame;
  for (std::size_t k = 0; k < kSources; ++k) {
    if (op.src[k] < 0) continue;
    if (slot_of(op, k) == Slot::predicate) {
      const std::uint32_t bits = frame.predicates[op.src[k]];
      gathered.predicates[k] |= ((op.src_negated >> k & 1u) != 0 ? ~bits : bits) & split.mask;
    } else {
      copy_lanes(frame.registers + op.src[k],
                 gathered.registers + k * static_cast<std::size_t>(kSlotBytes), slot_of(op, k),
                 split.mask);
    }
  }
}

void scatter(const Gathered& gathered, const Warp& warp, const Split& split) {
  const Op& op = op_of(warp, split);
  const Frame& frame = *split.frame;
  for (std::size_t k = 0; k < kResults; ++k) {
    if (op.dst[k] < 0) continue;
    const std::size_t from = kSources + k;
    if (slot_of(op, from) == Slot::predicate) {
      std::uint32_t& to = frame.predicates[op.dst[k]];
      to = (to & ~split.mask) | (gathered.predicates[from] & split.mask);
    } else {
      copy_lanes(gathered.registers + from * static_cast<std::size_t>(kSlotBytes),
                 frame.registers + op.dst[k], Slot::b32, split.mask);
    }
  }
}

std::int32_t place_of(const Op& op, std::size_t k) {
  return slot_of(op, k) == Slot::predicate ? static_cast<std::int32_t>(k)
                                           : static_cast<std::int32_t>(k) * kSlotBytes;
}

Op gathered_op(const Op& op) {
  Op together = op;
  for (std::size_t k = 0; k < kSources; ++k) {
    if (op.src[k] >= 0) together.src[k] = place_of(op, k);
  }
  for (std::size_t k = 0; k < kResults; ++k) together.dst[k] = place_of(op, kSources + k);
  together.src_negated = 0;
  return together;
}

// Gathered registers have no shadows beside them: the values alone are computed.
void leave_shadows_out(const Warp& warp, const Op& op, Op& together) {
  if (warp.shadow == nullptr) return;
  const ShadowOp& how = shadow_of(warp, op);
  if (how.value_full == nullptr) return;
  together.full = how.value_full;
  together.masked = how.value_masked;
}

// Nobody followed what float64 would have made of the results: they are exempt from its checks.
void doubt_results(Warp& warp, const Split& split) {
  if (warp.shadow == nullptr) return;
  for (const std::int32_t taint : shadow_of(warp, op_of(warp, split)).dst_taints) {
    if (taint != kNoTaint) warp.shadow->taints[taint].undecided |= split.mask;
  }
}

void execute(Warp& warp, const Op& op, std::uint32_t lanes) {
  (lanes == kAllLanes ? op.full : op.masked)(warp, op, lanes);
}

void execute_gathered(Warp& warp, const JointPaths& paths) {
  Gathered gathered;
  for (std::size_t k = 0; k < paths.count; ++k) {
    gather(warp, warp.splits[paths.index[k]], gathered);
  }
  Warp place;
  place.registers = gathered.registers;
  place.predicates = gathered.predicates;
  place.active = paths.lanes;
  place.alive = warp.alive;
  place.index = warp.index;
  place.block = warp.block;
  place.launch = warp.launch;
  place.counters = warp.counters;
  const Op& first = op_of(warp, warp.splits[paths.index[0]]);
  Op together = gathered_op(first);
  leave_shadows_out(warp, first, together);
  execute(place, together, paths.lanes);
  for (std::size_t k = 0; k < paths.count; ++k) {
    scatter(gathered, warp, warp.splits[paths.index[k]]);
    doubt_results(warp, warp.splits[paths.index[k]]);
  }
}

bool at_one_place(const Warp& warp, const JointPaths& paths) {
  for (std::size_t k = 1; k < paths.count; ++k) {
    const Split& first = warp.splits[paths.index[0]];
    const Split& other = warp.splits[paths.index[k]];
    if (other.pc != first.pc || other.frame != first.frame) return false;
  }
  return true;
}

}  // namespace

void execute_together(Warp& warp, const JointPaths& paths) {
  if (at_one_place(warp, paths)) {
    const Split& first = warp.splits[paths.index[0]];
    Frame& running = *warp.frame;
    make_current(warp, *first.frame);
    execute(warp, op_of(warp, first), paths.lanes);
    make_current(warp, running);
  } else {
    execute_gathered(warp, paths);
  }
}

}  // namespace cudaopt::sim
