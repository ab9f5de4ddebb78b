// What the modifiers of a floating-point instruction ask of its result, as the bits a handler
// reads.
#pragma once

#include "sim/form.hpp"
#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr std::int32_t kFtz = 1, kSat = 2, kRelu = 4, kNanResult = 8, kXorSign = 16,
                              kAbs = 32;

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

// `scaled` is the result times 2^24, for `flush_tiny`.
CUDAOPT_INLINE float finished(Flags flags, float x, float scaled) {
  const float number = canonical(x);
  const float result = flags.has(kFtz) ? flush_tiny(number, scaled) : number;
  return flags.has(kSat) ? saturate(result) : result;
}

// min and max: a number wins over NaN, and -0 is below +0. Of two NaNs the result is one of them.
template <bool kMaximum, class T>
CUDAOPT_INLINE T extreme(T a, T b) {
  using Bits = LaneOf<T>;
  const Bits x = bits_as<Bits>(a), y = bits_as<Bits>(b);
  const T zeros = bits_as<T>(kMaximum ? x & y : x | y);
  T result = (kMaximum ? a > b : a < b) ? a : b;
  result = a == b ? zeros : result;
  return b != b ? a : result;
}

// .NaN: NaN wins. .xorsign.abs: of the magnitudes, with the sign of the product.
template <bool kMaximum>
CUDAOPT_INLINE float extreme_with(Flags flags, float a, float b) {
  const bool xorsign = flags.has(kXorSign);
  const float size = extreme<kMaximum>(xorsign ? magnitude(a) : a, xorsign ? magnitude(b) : b);
  const float sign = bits_as<float>(bits_as<std::uint32_t>(a) ^ bits_as<std::uint32_t>(b));
  const float result = xorsign ? with_sign_of(size, sign) : size;
  const bool unordered = (a != a) | (b != b);
  return canonical(flags.has(kNanResult) && unordered ? a + b : result);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
