// f16 and bf16 as floats and back; arithmetic on them is exact in a wider format and rounded once.
// A half is a 32-bit word here, as in a register lane: 16-bit types would spoil the vector loops.
// Results have zero upper bits; those of arguments are ignored.
#pragma once

#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr std::uint32_t kNanHalf = 0x7fff;

struct F16 {
  using Format = FormatF16;
  static constexpr std::uint32_t kInfinity = 0x7c00, kOne = 0x3c00;

  CUDAOPT_INLINE static float decode(std::uint32_t half) {
    const std::uint32_t size = half & 0x7fffu;
    const std::uint32_t normal = (size << 13) + (112u << 23);
    // 0.5 has an ulp of 2^-24, the unit of f16 subnormals.
    const float subnormal = bits_as<float>(0x3f000000u | size) - 0.5f;
    std::uint32_t bits = size < 0x400 ? bits_as<std::uint32_t>(subnormal) : normal;
    bits = size >= kInfinity ? normal + (112u << 23) : bits;
    bits = size > kInfinity ? kNanF32 : bits;
    return bits_as<float>(bits | (size > kInfinity ? 0u : (half & 0x8000u) << 16));
  }

  // To nearest, ties to even.
  CUDAOPT_INLINE static std::uint32_t encode(float x) {
    const auto bits = bits_as<std::uint32_t>(x);
    const std::uint32_t size = bits & ~kSignF32;
    std::uint32_t normal = (size + 0xfffu + ((size >> 13) & 1u) - (112u << 23)) >> 13;
    normal = size >= 0x477ff000u ? kInfinity : normal;
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(size) + 0.5f) - 0x3f000000u;
    const std::uint32_t half = (size < 0x38800000u ? subnormal : normal) | ((bits >> 16) & 0x8000u);
    return size > 0x7f800000u ? kNanHalf : half;
  }

  // Products have 22 bits, so a float holds them.
  CUDAOPT_INLINE static float product(float a, float b) { return a * b; }

  // a*b + c with a sticky last bit. Everything is a multiple of 2^-48 below 2^33: the error of the
  // sum is exact in float too.
  CUDAOPT_INLINE static float fused(float a, float b, float c) {
    const float exact = a * b;
    const float sum = exact + c;
    const float error = error_of_sum(exact, c, sum);
    const auto bits = bits_as<std::uint32_t>(sum);
    const bool inexact = (error > 0) | (error < 0);
    const bool outward = (error > 0) != sign_bit(sum);
    const std::uint32_t odd = (bits & 1) != 0 ? bits : (outward ? bits + 1 : bits - 1);
    return bits_as<float>(inexact ? odd : bits);
  }

  // Where .ftz flushes: below the smallest normal number after rounding to full precision.
  CUDAOPT_INLINE static bool is_tiny(float x) { return magnitude(x) < 0x1p-14f - 0x1p-26f; }
};

struct Bf16 {
  using Format = FormatBf16;
  static constexpr std::uint32_t kInfinity = 0x7f80, kOne = 0x3f80;

  CUDAOPT_INLINE static float decode(std::uint32_t half) {
    return canonical(bits_as<float>(half << 16));
  }

  CUDAOPT_INLINE static std::uint32_t encode(float x) {
    const auto bits = bits_as<std::uint32_t>(x);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (bits & ~kSignF32) > 0x7f800000u ? kNanHalf : rounded;
  }

  // A float would round products that are subnormal, and then `encode` would round again.
  CUDAOPT_INLINE static double product(double a, double b) { return a * b; }

  CUDAOPT_INLINE static std::uint32_t encode(double x) {
    return encode(static_cast<float>(round_to<FormatBf16>(x, Rounding::rn)));
  }

  CUDAOPT_INLINE static double fused(float a, float b, float c) { return sticky_fma(a, b, c); }
};

template <class Half>
CUDAOPT_INLINE bool is_nan(std::uint32_t half) {
  return (half & 0x7fff) > Half::kInfinity;
}

// .sat; NaN becomes +0.
template <class Half>
CUDAOPT_INLINE std::uint32_t saturate_half(std::uint32_t half) {
  const bool above = half >= Half::kOne && half <= Half::kInfinity;
  const bool below = (half & 0x8000) != 0 || is_nan<Half>(half);
  return below ? 0u : (above ? Half::kOne : half);
}

// .relu: negative numbers become +0, NaN stays.
CUDAOPT_INLINE std::uint32_t relu_half(std::uint32_t half) { return half >= 0x8000 ? 0u : half; }

CUDAOPT_INLINE std::uint32_t low_half(std::uint32_t pair) { return pair & 0xffffu; }
CUDAOPT_INLINE std::uint32_t high_half(std::uint32_t pair) { return pair >> 16; }
CUDAOPT_INLINE std::uint32_t pair_of(std::uint32_t low, std::uint32_t high) {
  return low | high << 16;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
