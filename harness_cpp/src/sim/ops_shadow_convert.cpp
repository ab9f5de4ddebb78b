// Shadows through conversions and decisions. A comparison, or a rounding to an integer, that gives
// one answer for the values and another for the shadows leaves its result undecided.
#include <cmath>

#include "sim/compare.hpp"
#include "sim/shadow_loss.hpp"
#include "sim/shadow_rules.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

CUDAOPT_INLINE double whole_double(double x, Rounding mode) {
  switch (mode) {
    case Rounding::rzi:
      return std::trunc(x);
    case Rounding::rmi:
      return std::floor(x);
    case Rounding::rpi:
      return std::ceil(x);
    default:
      return std::rint(x);
  }
}

// The lanes that round to another integer than their shadows do, within what `type` holds.
[[gnu::noinline]] std::uint32_t decided_otherwise(Rounding mode, double lowest, double highest,
                                                  const double* value, const double* shadow) {
  const auto held = [&](double x) {
    const double integer = whole_double(x, mode);
    return integer < lowest ? lowest : (integer > highest ? highest : integer);
  };
  std::uint32_t otherwise = 0;
  for (int i = 0; i < kLanes; ++i) {
    const bool both_nan = value[i] != value[i] && shadow[i] != shadow[i];
    const bool same = both_nan || held(value[i]) == held(shadow[i]);
    otherwise |= same ? 0u : kLaneBits[i];
  }
  return otherwise;
}

bool rounds_to_integer(Rounding mode) {
  return mode == Rounding::rni || mode == Rounding::rzi || mode == Rounding::rmi ||
         mode == Rounding::rpi;
}

// float to float, for reasons of its own: to an integer, or in a direction.
std::int32_t round_number(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  Doubles room, value;
  const double* shadow = shadow_source(warp, op, how, 0, how.from, 0, room);
  numbers_of_bits(warp, op.src[0], how.from, 0, value.of);
  Taint taints = source_taints(warp, how);
  if (rounds_to_integer(how.rounding))
    taints.undecided |= decided_otherwise(how.rounding, -HUGE_VAL, HUGE_VAL, value.of, shadow);
  taints.reseeded = kAllLanes;
  const std::int32_t next = execute(warp, op, how, mask);
  reseed(warp, op, how, mask);
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

void clamp(const ShadowOp& how, double* x) {
  for (int i = 0; i < kLanes; ++i) {
    if (how.relu) x[i] = x[i] < 0 ? 0 : x[i];
    if (how.saturate) x[i] = saturate(x[i]);
  }
}

// float to float, to nearest: the shadow is not rounded. Of two sources the first is the upper
// half.
std::int32_t convert(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const int count = how.to.count;
  Doubles kept[2], room, value;
  LossOperands operands[2];
  for (int e = 0; e < count; ++e) {
    const auto source = static_cast<std::size_t>(count - 1 - e);
    std::memcpy(kept[e].of, shadow_source(warp, op, how, source, how.from, 0, room),
                sizeof room.of);
    numbers_of_bits(warp, op.src[source], how.from, 0, operands[e].value[0]);
    if (how.saturate || how.relu) clamp(how, kept[e].of);
    operands[e].shadow[0] = kept[e].of;
    operands[e].count = 1;
  }
  const Taint taints = source_taints(warp, how);
  const std::int32_t next = execute(warp, op, how, mask);
  LossCount& losses = loss_count(warp, op);
  const bool looks = losses.looks();
  if (looks) losses.lanes += static_cast<std::uint32_t>(__builtin_popcount(mask));
  for (int e = 0; e < count; ++e) {
    numbers_of_bits(warp, op.dst[0], how.to, e, value.of);
    if (looks && loses_more(value.of, kept[e].of, how.to.format))
      note_loss(warp, operands[e], value.of, kept[e].of, how.to.format, mask & ~taints.undecided,
                losses);
    write_cell(warp, how.dst_cells[0] + to_number(warp, how.to, e), kept[e].of, mask);
  }
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

// An integer as it is, and f64, which is its own shadow.
[[gnu::noinline]] void doubles_of(Warp& warp, const Op& op, Type type, double* out) {
  const auto each = [&](auto sample) {
    const Source<decltype(sample)> from(warp, op, 0);
    for (int i = 0; i < kLanes; ++i) out[i] = static_cast<double>(from[i]);
  };
  switch (type) {
    case Type::u8:
      return each(std::uint8_t{});
    case Type::s8:
      return each(std::int8_t{});
    case Type::u16:
      return each(std::uint16_t{});
    case Type::s16:
      return each(std::int16_t{});
    case Type::u64:
      return each(std::uint64_t{});
    case Type::s64:
      return each(std::int64_t{});
    case Type::u32:
      return each(std::uint32_t{});
    case Type::f64:
      return each(double{});
    default:
      return each(std::int32_t{});
  }
}

std::int32_t from_integer(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  Doubles exact;
  doubles_of(warp, op, how.integer, exact.of);
  if (how.saturate || how.relu) clamp(how, exact.of);
  const Taint taints = source_taints(warp, how);
  const std::int32_t next = execute(warp, op, how, mask);
  write_cell(warp, how.dst_cells[0], exact.of, mask);
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

struct Range {
  double lowest, highest;
};
Range range_of(Type integer) {
  switch (integer) {
    case Type::u8:
      return {0, 255};
    case Type::s8:
      return {-128, 127};
    case Type::u16:
      return {0, 65535};
    case Type::s16:
      return {-32768, 32767};
    case Type::u32:
      return {0, 4294967295.0};
    case Type::s32:
      return {-2147483648.0, 2147483647.0};
    case Type::u64:
      return {0, 0x1p64};
    default:
      return {-0x1p63, 0x1p63};
  }
}

std::int32_t to_integer(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  Doubles room, value;
  const double* shadow = shadow_source(warp, op, how, 0, how.from, 0, room);
  numbers_of_bits(warp, op.src[0], how.from, 0, value.of);
  const Range range = range_of(how.integer);
  Taint taints = source_taints(warp, how);
  taints.undecided |=
      decided_otherwise(how.rounding, range.lowest, range.highest, value.of, shadow);
  taints.reseeded = kAllLanes;
  const std::int32_t next = execute(warp, op, how, mask);
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

CUDAOPT_INLINE std::uint32_t outcomes(std::int32_t accepted, const double* a, const double* b) {
  std::uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= accepts(accepted, a[i], b[i]) ? kLaneBits[i] : 0u;
  return bits;
}

// setp and set: Op::aux has the outcomes that make them true.
std::int32_t compare(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const std::int32_t accepted = op.aux & kOutcomes;
  Taint taints = source_taints(warp, how);
  for (int e = 0; e < how.from.count; ++e) {
    Doubles rooms[2], values[2];
    const double* a = shadow_source(warp, op, how, 0, how.from, e, rooms[0]);
    const double* b = shadow_source(warp, op, how, 1, how.from, e, rooms[1]);
    numbers_of_bits(warp, op.src[0], how.from, e, values[0].of);
    numbers_of_bits(warp, op.src[1], how.from, e, values[1].of);
    taints.undecided |= outcomes(accepted, a, b) ^ outcomes(accepted, values[0].of, values[1].of);
  }
  const std::int32_t next = execute(warp, op, how, mask);
  reseed(warp, op, how, mask);
  taints.reseeded = 0;
  write_taints(warp, how, taints, mask);
  return next;
}

// or.b32 of a number and a lone sign bit, as copysign compiles to. Anything else begins anew.
std::int32_t set_sign(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const std::size_t number = how.src_cells[0] >= 0 ? 0 : 1;
  const std::uint32_t* sign = lanes<std::uint32_t>(warp, op.src[1 - number]);
  Doubles room, fresh;
  const double* shadow = shadow_source(warp, op, how, number, how.from, 0, room);
  std::uint32_t lone = 0;
  for (int i = 0; i < kLanes; ++i) {
    lone |= (sign[i] & ~kSignF32) == 0 ? kLaneBits[i] : 0u;
    fresh.of[i] = sign[i] != 0 ? -std::fabs(shadow[i]) : shadow[i];
  }
  Taint taints = source_taints(warp, how);
  const std::uint32_t reseeded = taint(warp, how.src_taints[number]).reseeded;
  taints.reseeded = (reseeded & lone) | ~lone;
  const std::int32_t next = execute(warp, op, how, mask);
  reseed(warp, op, how, mask & ~lone);
  write_cell(warp, how.dst_cells[0], fresh.of, mask & lone);
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

}  // namespace

Handler bind_shadow_conversion(const ShadowOp& how) {
  switch (how.rule) {
    case ShadowRule::convert:
      return how.on_purpose ? round_number : convert;
    case ShadowRule::from_integer:
      return from_integer;
    case ShadowRule::to_integer:
      return to_integer;
    case ShadowRule::compare:
      return compare;
    case ShadowRule::sign_bits:
      return set_sign;
    default:
      return nullptr;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
