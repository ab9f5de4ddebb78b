// atom and red of floats: sums add in the shadow too, in the order the lanes execute; exch and cas
// hand over the shadow of what they wrote.
#include "sim/shadow_places.hpp"
#include "sim/shadow_rules.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

double number_of(Number format, std::uint32_t bits) {
  if (format == Number::f32) return bits_as<float>(bits);
  return format == Number::f16 ? F16::decode(bits) : Bf16::decode(bits);
}

std::uint32_t bits_at(const std::uint8_t* host, Number format) {
  if (format == Number::f32) {
    std::uint32_t bits;
    std::memcpy(&bits, host, sizeof bits);
    return bits;
  }
  std::uint16_t bits;
  std::memcpy(&bits, host, sizeof bits);
  return bits;
}

// One number of every lane's access: its cell, and the memory itself.
struct AtomicNumber {
  const ShadowCells* cells[kLanes] = {};
  std::uint64_t at[kLanes] = {};
  const std::uint8_t* host[kLanes] = {};
};

// A lane that may not access faults here as it would in the instruction.
AtomicNumber locate(Warp& warp, const Op& op, const ShadowOp& how, const LaneAddresses& addresses,
                    int e, std::uint32_t mask) {
  AtomicNumber located;
  const std::uint64_t offset = static_cast<unsigned>(e) * bytes_of(how.from.format);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    const std::uint8_t* host =
        resolve(warp, op, how.space, addresses.of[i], how.element_bytes, i, AccessKind::atomic);
    const Place place = place_of(warp, how.space, addresses.of[i], i);
    located.host[i] = host + offset;
    located.cells[i] = place.cells;
    if (place.cells != nullptr) located.at[i] = (place.byte + offset) / place.cells->cell_bytes;
  }
  return located;
}

// Cells whose bits are not those in memory begin anew.
void refresh(const AtomicNumber& located, Number format, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (located.cells[i] == nullptr) continue;
    const ShadowCells& cells = *located.cells[i];
    const std::uint64_t at = located.at[i];
    const std::uint32_t bits = bits_at(located.host[i], format);
    if (cells.bits[at] == bits && (cells.states[at] & kKind) == state_of(format)) continue;
    cells.values[at] = number_of(format, bits);
    cells.bits[at] = bits;
    cells.states[at] = state_of(format);
  }
}

// Afterwards `old` and `old_taints` are what each lane found.
void add_in_order(const AtomicNumber& located, const double* operand, const Taint& taints,
                  std::uint32_t mask, double* old, Taint& old_taints) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (located.cells[i] == nullptr) continue;
    const ShadowCells& cells = *located.cells[i];
    const std::uint64_t at = located.at[i];
    old[i] = cells.values[at];
    old_taints.undecided |= (cells.states[at] & kUndecided) != 0 ? kLaneBits[i] : 0u;
    old_taints.reseeded |= (cells.states[at] & kReseeded) != 0 ? kLaneBits[i] : 0u;
    cells.values[at] += operand[i];
    cells.states[at] = state_with(cells.states[at], taints, i);
  }
}

// In the order of lanes: of those that name one address, the one whose bits are there wrote last.
void swap_in_order(const AtomicNumber& located, Number format, const double* fresh,
                   const std::uint32_t* fresh_bits, const Taint& taints, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (located.cells[i] == nullptr || bits_at(located.host[i], format) != fresh_bits[i]) continue;
    const ShadowCells& cells = *located.cells[i];
    const std::uint64_t at = located.at[i];
    cells.values[at] = fresh[i];
    cells.bits[at] = fresh_bits[i];
    cells.states[at] = state_with(state_of(format), taints, i);
  }
}

void settle(const AtomicNumber& located, Number format, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (located.cells[i] == nullptr) continue;
    located.cells[i]->bits[located.at[i]] = bits_at(located.host[i], format);
  }
}

Taint taints_of_operand(Warp& warp, const ShadowOp& how, std::size_t k) {
  Taint taints = taint(warp, how.src_taints[k]);
  taints.undecided |= taint(warp, how.src_taints[0]).undecided | warp.shadow->undecided;
  return taints;
}

constexpr int kMostNumbers = 2;

std::int32_t atomic_add(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const LaneAddresses addresses(warp, op);
  const Taint taints = taints_of_operand(warp, how, 1);
  AtomicNumber located[kMostNumbers];
  Doubles operand[kMostNumbers], old;
  for (int e = 0; e < how.from.count; ++e) {
    located[e] = locate(warp, op, how, addresses, e, mask);
    refresh(located[e], how.from.format, mask);
    Doubles room;
    std::memcpy(operand[e].of, shadow_source(warp, op, how, 1, how.from, e, room), sizeof room.of);
  }
  const std::int32_t next = execute(warp, op, how, mask);
  Taint old_taints;
  for (int e = 0; e < how.from.count; ++e) {
    if (how.dst_cells[0] >= 0) numbers_of_bits(warp, op.dst[0], how.from, e, old.of);
    add_in_order(located[e], operand[e].of, taints, mask, old.of, old_taints);
    settle(located[e], how.from.format, mask);
    if (how.dst_cells[0] >= 0)
      write_cell(warp, how.dst_cells[0] + to_number(warp, how.from, e), old.of, mask);
  }
  if (how.dst_taints[0] != kNoTaint) write_taint(warp, how.dst_taints[0], old_taints, mask);
  return next;
}

// A lane found what memory held before the warp, if its bits say so; else what another lane wrote,
// which begins anew.
void write_found(Warp& warp, const Op& op, const ShadowOp& how, const Doubles& before,
                 const std::uint32_t* before_bits, std::uint32_t mask) {
  if (how.dst_cells[0] < 0) return;
  Doubles found;
  std::uint32_t bits[kLanes];
  numbers_of_bits(warp, op.dst[0], how.from, 0, found.of);
  raw_bits(warp, op.dst[0], how.from, 0, bits);
  for (int i = 0; i < kLanes; ++i)
    found.of[i] = bits[i] == before_bits[i] ? before.of[i] : found.of[i];
  write_cell(warp, how.dst_cells[0], found.of, mask);
}

std::int32_t atomic_swap(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const std::size_t operand = op.src[2] >= 0 ? 2 : 1;  // cas compares with the first
  const LaneAddresses addresses(warp, op);
  const Taint taints = taints_of_operand(warp, how, operand);
  const AtomicNumber located = locate(warp, op, how, addresses, 0, mask);
  refresh(located, how.from.format, mask);
  Doubles room, fresh, before;
  std::uint32_t fresh_bits[kLanes], before_bits[kLanes] = {};
  std::memcpy(fresh.of, shadow_source(warp, op, how, operand, how.from, 0, room), sizeof room.of);
  raw_bits(warp, op.src[operand], how.from, 0, fresh_bits);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    before_bits[i] = bits_at(located.host[i], how.from.format);
    before.of[i] = located.cells[i] == nullptr ? number_of(how.from.format, before_bits[i])
                                               : located.cells[i]->values[located.at[i]];
  }
  const std::int32_t next = execute(warp, op, how, mask);
  write_found(warp, op, how, before, before_bits, mask);
  swap_in_order(located, how.from.format, fresh.of, fresh_bits, taints, mask);
  if (how.dst_taints[0] != kNoTaint) write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

}  // namespace

Handler bind_shadow_atomic(const ShadowOp& how) {
  if (how.rule == ShadowRule::atomic_add) return atomic_add;
  return how.rule == ShadowRule::atomic_swap ? atomic_swap : nullptr;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
