// Shadows that change their place: mov, packing and unpacking, selp, shuffles; and instructions of
// which only it matters what their results depend on.
#include "sim/members.hpp"
#include "sim/shadow_lanes.hpp"
#include "sim/shadow_rules.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// mov between registers, and ld.param: as many numbers on both sides. Packing has several sources
// of which each is one number of the result; unpacking the other way round.
std::int32_t move(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  Doubles moved[4], room;
  const int count = how.from.count * static_cast<int>(how.elements);
  for (int n = 0; n < count; ++n) {
    const auto source = static_cast<std::size_t>(n / how.from.count);
    std::memcpy(moved[n].of,
                shadow_source(warp, op, how, source, how.from, n % how.from.count, room),
                sizeof room.of);
  }
  Taint taints[4];
  const Taint all = source_taints(warp, how);
  const bool each = how.to.count == how.from.count;  // of several, each goes to its own
  for (std::size_t k = 0; k < 4; ++k) taints[k] = each ? taint(warp, how.src_taints[k]) : all;
  const std::int32_t next = execute(warp, op, how, mask);
  for (int n = 0; n < count; ++n) {
    const auto k = static_cast<std::size_t>(n / how.to.count);
    if (how.dst_cells[k] < 0) continue;
    write_cell(warp, how.dst_cells[k] + to_number(warp, how.to, n % how.to.count), moved[n].of,
               mask);
  }
  for (std::size_t k = 0; k < 4; ++k) {
    if (how.dst_taints[k] != kNoTaint) write_taint(warp, how.dst_taints[k], taints[k], mask);
  }
  return next;
}

// The value's choice is the shadow's.
std::int32_t select(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const std::uint32_t first = Source<bool>(warp, op, 2).bits;
  const Taint a = taint(warp, how.src_taints[0]), b = taint(warp, how.src_taints[1]);
  const Taint fresh{
      (a.undecided & first) | (b.undecided & ~first) | taint(warp, how.src_taints[2]).undecided,
      (a.reseeded & first) | (b.reseeded & ~first)};
  Doubles chosen[2], rooms[2];
  const int count = how.dst_cells[0] >= 0 ? how.from.count : 0;
  for (int e = 0; e < count; ++e) {
    const double* x = shadow_source(warp, op, how, 0, how.from, e, rooms[0]);
    const double* y = shadow_source(warp, op, how, 1, how.from, e, rooms[1]);
    for (int i = 0; i < kLanes; ++i) chosen[e].of[i] = (first & kLaneBits[i]) != 0 ? x[i] : y[i];
  }
  const std::int32_t next = execute(warp, op, how, mask);
  for (int e = 0; e < count; ++e)
    write_cell(warp, how.dst_cells[0] + to_number(warp, how.from, e), chosen[e].of, mask);
  write_taint(warp, how.dst_taints[0], fresh, mask);
  return next;
}

// Whether the lanes will wait for others they name, as the instruction finds out for itself.
bool waits_for_members(const Warp& warp, const Op& op, std::uint32_t mask) {
  const int source = member_source(op);
  if (source < 0) return false;
  std::uint32_t members[kLanes];
  std::memcpy(members, warp.registers + op.src[static_cast<std::size_t>(source)], sizeof members);
  return !all_members_here(warp, op, mask, members);
}

// Which lane each lane reads: the shuffle itself says so when it moves lane numbers. What comes
// from no lane is no lane's number.
std::int32_t shuffle(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  // Those who wait come back here, or are executed together with lanes of other places.
  if (waits_for_members(warp, op, mask)) return execute(warp, op, how, mask);
  Op probe = op;
  probe.src[0] = how.lane_numbers;
  probe.dst = {how.scratch, -1, -1, -1};
  (void)execute(warp, probe, how, mask);
  std::uint32_t from[kLanes];
  std::memcpy(from, lanes<std::uint32_t>(warp, how.scratch), sizeof from);
  Taint sources = taint(warp, how.src_taints[0]), fresh;
  sources.undecided |= warp.shadow->undecided;
  const std::uint32_t of_rest =
      taint(warp, how.src_taints[1]).undecided | taint(warp, how.src_taints[2]).undecided;
  for (int i = 0; i < kLanes; ++i) {
    if (from[i] >= kLanes) continue;
    fresh.undecided |= ((sources.undecided >> from[i]) & 1) != 0 ? kLaneBits[i] : 0u;
    fresh.reseeded |= ((sources.reseeded >> from[i]) & 1) != 0 ? kLaneBits[i] : 0u;
  }
  fresh.undecided |= of_rest;
  Doubles kept[2], room;
  const int count = how.dst_cells[0] >= 0 ? how.from.count : 0;
  for (int e = 0; e < count; ++e)
    std::memcpy(kept[e].of, shadow_source(warp, op, how, 0, how.from, e, room), sizeof room.of);
  const std::int32_t next = execute(warp, op, how, mask);
  for (int e = 0; e < count; ++e) {
    Doubles moved;
    numbers_of_bits(warp, op.dst[0], how.from, e, moved.of);
    for (int i = 0; i < kLanes; ++i)
      moved.of[i] = from[i] < kLanes ? kept[e].of[from[i]] : moved.of[i];
    write_cell(warp, how.dst_cells[0] + to_number(warp, how.from, e), moved.of, mask);
  }
  write_taints(warp, how, fresh, mask);
  return next;
}

std::int32_t branch(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  return execute(warp, op, how, mask);
}

// Every lane's result may depend on every lane's operand.
std::int32_t across(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const Taint all = source_taints(warp, how);
  const bool undecided = ((all.undecided | warp.shadow->undecided) & mask) != 0;
  const std::int32_t next = execute(warp, op, how, mask);
  reseed(warp, op, how, mask);
  write_taints(warp, how, {undecided ? kAllLanes : 0u, kAllLanes}, mask);
  return next;
}

// Bits and integers: the result is what its bits say, and began anew if it came from a float.
std::int32_t other(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const Taint all = source_taints(warp, how);
  const std::int32_t next = execute(warp, op, how, mask);
  reseed(warp, op, how, mask);
  write_taints(warp, how, {all.undecided, how.on_purpose ? kAllLanes : 0u}, mask);
  return next;
}

}  // namespace

Handler bind_shadow_move(const ShadowOp& how) {
  switch (how.rule) {
    case ShadowRule::move:
      return move;
    case ShadowRule::select:
      return select;
    case ShadowRule::shuffle:
      return shuffle;
    case ShadowRule::branch:
      return branch;
    case ShadowRule::across:
      return across;
    case ShadowRule::other:
      return other;
    default:
      return nullptr;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
