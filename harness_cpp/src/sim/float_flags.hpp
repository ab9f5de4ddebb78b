// What the modifiers of a floating-point instruction ask of its result, as the bits a handler
// reads.
#pragma once

#include "sim/form.hpp"
#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr std::int32_t kFtz = 1, kSat = 2, kRelu = 4, kNanResult = 8, kXorSign = 16;

inline Flags float_flags(const Form& form) {
  Flags flags;
  if (form.has(Modifier::ftz)) flags.bits |= kFtz;
  if (form.has(Modifier::sat)) flags.bits |= kSat;
  if (form.has(Modifier::relu)) flags.bits |= kRelu;
  if (form.has(Modifier::nan_result)) flags.bits |= kNanResult;
  if (form.has(Modifier::xorsign)) flags.bits |= kXorSign;
  return flags;
}

CUDAOPT_INLINE float flush_if(Flags flags, float x) { return flags.has(kFtz) ? flush(x) : x; }

CUDAOPT_INLINE float finished(Flags flags, float x) {
  const float result = flush_if(flags, canonical(x));
  return flags.has(kSat) ? saturate(result) : result;
}

// min and max: a number wins over NaN unless .NaN asks otherwise, and -0 is below +0.
template <bool kMaximum, class T>
CUDAOPT_INLINE T extreme(T a, T b) {
  using Bits = LaneOf<T>;
  const Bits x = bits_as<Bits>(a), y = bits_as<Bits>(b);
  const T zeros = bits_as<T>(kMaximum ? x & y : x | y);
  T result = (kMaximum ? a > b : a < b) ? a : b;
  result = a == b ? zeros : result;
  result = b != b ? a : result;
  return canonical(result);
}

template <bool kMaximum, class T>
CUDAOPT_INLINE T extreme_with(Flags flags, T a, T b) {
  const T x = flags.has(kXorSign) ? magnitude(a) : a;
  const T y = flags.has(kXorSign) ? magnitude(b) : b;
  T result = extreme<kMaximum>(x, y);
  if (flags.has(kXorSign)) {
    using Bits = LaneOf<T>;
    const T sign = bits_as<T>(bits_as<Bits>(a) ^ bits_as<Bits>(b));
    result = result != result ? result : with_sign_of(result, sign);
  }
  const bool unordered = (a != a) | (b != b);
  return flags.has(kNanResult) && unordered ? canonical(a + b) : result;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
