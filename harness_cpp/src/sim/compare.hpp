// Comparisons of lane values: one bit per lane, and what setp, set and their modifiers make of it.
#pragma once

#include "sim/float_flags.hpp"
#include "sim/half.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// The four outcomes of comparing; a comparison is the set of those it accepts.
inline constexpr std::int32_t kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8, kOutcomes = 15;

inline std::optional<std::int32_t> accepted_outcomes(Modifier comparison) {
  switch (comparison) {
    case Modifier::eq:
      return kEqual;
    case Modifier::ne:
      return kLess | kGreater;
    case Modifier::lt:
    case Modifier::lo:
      return kLess;
    case Modifier::le:
    case Modifier::ls:
      return kLess | kEqual;
    case Modifier::gt:
    case Modifier::hi:
      return kGreater;
    case Modifier::ge:
    case Modifier::hs:
      return kGreater | kEqual;
    case Modifier::equ:
      return kEqual | kUnordered;
    case Modifier::neu:
      return kLess | kGreater | kUnordered;
    case Modifier::ltu:
      return kLess | kUnordered;
    case Modifier::leu:
      return kLess | kEqual | kUnordered;
    case Modifier::gtu:
      return kGreater | kUnordered;
    case Modifier::geu:
      return kGreater | kEqual | kUnordered;
    case Modifier::num:
      return kLess | kEqual | kGreater;
    case Modifier::nan:
      return kUnordered;
    default:
      return std::nullopt;
  }
}

// Known when compiling, so that a hot comparison is one instruction per vector.
template <std::int32_t kAccepted, class T>
CUDAOPT_INLINE bool holds(T a, T b) {
  if constexpr (kAccepted == kEqual) return a == b;
  if constexpr (kAccepted == kLess) return a < b;
  if constexpr (kAccepted == (kLess | kEqual)) return a <= b;
  if constexpr (kAccepted == kGreater) return a > b;
  if constexpr (kAccepted == (kGreater | kEqual)) return a >= b;
  if constexpr (kAccepted == (kLess | kGreater | kUnordered)) return a != b;
  if constexpr (std::is_integral_v<T>) {
    if constexpr (kAccepted == (kLess | kGreater)) return a != b;
  } else {
    if constexpr (kAccepted == (kLess | kGreater)) return (a < b) | (a > b);
    if constexpr (kAccepted == (kEqual | kUnordered)) return !((a < b) | (a > b));
    if constexpr (kAccepted == (kLess | kUnordered)) return !(a >= b);
    if constexpr (kAccepted == (kLess | kEqual | kUnordered)) return !(a > b);
    if constexpr (kAccepted == (kGreater | kUnordered)) return !(a <= b);
    if constexpr (kAccepted == (kGreater | kEqual | kUnordered)) return !(a < b);
    if constexpr (kAccepted == (kLess | kEqual | kGreater)) return (a == a) & (b == b);
    if constexpr (kAccepted == kUnordered) return (a != a) | (b != b);
  }
}

// The same decided while running, for the many combinations that are seldom used.
template <class T>
CUDAOPT_INLINE bool accepts(std::int32_t accepted, T a, T b) {
  const std::int32_t outcome = (a < b ? kLess : 0) | (a == b ? kEqual : 0) | (a > b ? kGreater : 0);
  return ((outcome == 0 ? kUnordered : outcome) & accepted) != 0;
}

// How an operand's lanes become comparable values.
template <class T>
struct AsIs {
  using Lane = T;
  CUDAOPT_INLINE static T value(T lane) { return lane; }
};
struct Flushed {
  using Lane = float;
  CUDAOPT_INLINE static float value(float lane) { return flush(lane); }
};
template <class Half>
struct Low {
  using Lane = std::uint32_t;
  CUDAOPT_INLINE static float value(std::uint32_t lane) { return Half::decode(low_half(lane)); }
};
template <class Half>
struct High {
  using Lane = std::uint32_t;
  CUDAOPT_INLINE static float value(std::uint32_t lane) { return Half::decode(high_half(lane)); }
};

template <class Reader>
std::uint32_t comparison_bits(Warp& warp, const Op& op, std::int32_t accepted) {
  const Source<typename Reader::Lane> a(warp, op, 0), b(warp, op, 1);
  std::uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i)
    bits |= accepts(accepted, Reader::value(a[i]), Reader::value(b[i])) ? kLaneBits[i] : 0u;
  return bits;
}

// Op::aux of setp and set: the accepted outcomes, how to combine, and more for each.
inline constexpr std::int32_t kAnd = 1 << 4, kOr = 2 << 4, kXor = 3 << 4, kCombine = 3 << 4;
inline constexpr std::int32_t kTwoResults = 1 << 6;  // the second may be for the complement
inline constexpr std::int32_t kTrueShift = 8;        // set: index of the value for true

CUDAOPT_INLINE std::uint32_t combined(Warp& warp, const Op& op, std::uint32_t bits) {
  const std::int32_t how = op.aux & kCombine;
  if (how == 0) return bits;
  const std::uint32_t other = Source<bool>(warp, op, 2).bits;
  if (how == kAnd) return bits & other;
  return how == kOr ? bits | other : bits ^ other;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
