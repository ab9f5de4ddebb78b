// Sums, products and fused products of f32, with every rounding and modifier, one lane at a time.
#pragma once

#include "sim/float_flags.hpp"

namespace cudaopt::sim::CUDAOPT_ISA::f32 {

// Each operation gives its result to nearest, the exact result as a sticky double, and the sign an
// exact zero has when rounding down (a sum is then -0 unless both terms are +0). Those whose
// results may round up to the smallest normal number also give the result times 2^24. Sums never
// do: their subnormal results are exact.
struct Add {
  static constexpr bool kRoundsTinyResults = false;
  CUDAOPT_INLINE static float nearest(float a, float b) { return a + b; }
  CUDAOPT_INLINE static double sticky(float a, float b) { return sticky_sum(a, b); }
  CUDAOPT_INLINE static bool negative_zero(float a, float b) { return sign_bit(a) | sign_bit(b); }
};

struct Subtract {
  static constexpr bool kRoundsTinyResults = false;
  CUDAOPT_INLINE static float nearest(float a, float b) { return a - b; }
  CUDAOPT_INLINE static double sticky(float a, float b) { return sticky_sum(a, -b); }
  CUDAOPT_INLINE static bool negative_zero(float a, float b) { return sign_bit(a) | !sign_bit(b); }
};

struct Multiply {
  static constexpr bool kRoundsTinyResults = true;
  CUDAOPT_INLINE static float nearest(float a, float b) { return a * b; }
  CUDAOPT_INLINE static float scaled(float a, float b) { return (a * 0x1p12f) * (b * 0x1p12f); }
  CUDAOPT_INLINE static double sticky(float a, float b) { return static_cast<double>(a) * b; }
  CUDAOPT_INLINE static bool negative_zero(float a, float b) { return sign_bit(a) != sign_bit(b); }
};

struct FusedMultiplyAdd {
  static constexpr bool kRoundsTinyResults = true;
  CUDAOPT_INLINE static float nearest(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  CUDAOPT_INLINE static float scaled(float a, float b, float c) {
    return __builtin_fmaf(a * 0x1p12f, b * 0x1p12f, c * 0x1p24f);
  }
  CUDAOPT_INLINE static double sticky(float a, float b, float c) { return sticky_fma(a, b, c); }
  CUDAOPT_INLINE static bool negative_zero(float a, float b, float c) {
    return (sign_bit(a) != sign_bit(b)) | sign_bit(c);
  }
};

template <class Operation, class... Floats>
CUDAOPT_INLINE float plain(Floats... x) {
  return canonical(Operation::nearest(x...));
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float from_flushed(Floats... x) {
  const float result = canonical(Operation::nearest(x...));
  if constexpr (Operation::kRoundsTinyResults) return flush_tiny(result, Operation::scaled(x...));
  return flush(result);
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float flushed(Floats... x) {
  return from_flushed<Operation>(flush(x)...);
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float with_flags(Flags flags, Floats... x) {
  const float result = flags.has(kFtz) ? flushed<Operation>(x...) : plain<Operation>(x...);
  return flags.has(kSat) ? saturate(result) : result;
}

template <class Operation, Rounding kMode, class... Floats>
CUDAOPT_INLINE float rounded_from_flushed(Flags flags, Floats... x) {
  const double exact = Operation::sticky(x...);
  float result = round_to_f32<kMode>(exact);
  if constexpr (kMode == Rounding::rm) {
    const float zero = Operation::negative_zero(x...) ? -0.0f : 0.0f;
    result = exact == 0.0 ? zero : result;
  }
  return finished(flags, result, round_to_f32<kMode>(exact * 0x1p24));
}

template <class Operation, Rounding kMode, class... Floats>
CUDAOPT_INLINE float rounded(Flags flags, Floats... x) {
  return rounded_from_flushed<Operation, kMode>(flags, flush_if(flags, x)...);
}

// The operation with the rounding and the modifiers an instruction names.
template <class Operation, Rounding kMode, class... Floats>
CUDAOPT_INLINE float applied(Flags flags, Floats... x) {
  if constexpr (kMode == Rounding::rn) return with_flags<Operation>(flags, x...);
  return rounded<Operation, kMode>(flags, x...);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA::f32
