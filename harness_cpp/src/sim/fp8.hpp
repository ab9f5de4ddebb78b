// e4m3 and e5m2 from f32, and to f16. An 8-bit number is a 32-bit word here, as
// halves are (half.hpp). Results have zero upper bits; those of arguments are ignored.
#pragma once

#include "sim/half.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr std::uint32_t kNanFp8 = 0x7f;

// `kBias` is that of the exponent, `kMost` the code of the largest finite number, and codes beyond
// `kLast` are NaN.
template <int kFraction, int kBias, std::uint32_t kMost, std::uint32_t kLast>
struct Fp8 {
  // Exact: f16 has all these numbers.
  CUDAOPT_INLINE static std::uint32_t to_f16(std::uint32_t code) {
    const std::uint32_t size = code & 0x7fu;
    const std::uint32_t normal = (size << kDropped) + kRebias;
    const float subnormal = bits_as<float>(kAnchor | size) - bits_as<float>(kAnchor);
    std::uint32_t bits = size < (1u << kFraction) ? bits_as<std::uint32_t>(subnormal) : normal;
    bits = size > kMost ? 0x7f800000u : bits;
    const std::uint32_t half = F16::encode(bits_as<float>(bits | (code & 0x80u) << 24));
    return size > kLast ? kNanHalf : half;
  }

  // To nearest, ties to even, and to the largest number from beyond it (.rn.satfinite).
  CUDAOPT_INLINE static std::uint32_t encode(float x) {
    const auto bits = bits_as<std::uint32_t>(x);
    const std::uint32_t size = bits & ~kSignF32;
    const std::uint32_t rounding = (1u << (kDropped - 1)) - 1 + ((size >> kDropped) & 1u);
    const std::uint32_t normal = (size + rounding - kRebias) >> kDropped;
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(size) + bits_as<float>(kAnchor)) - kAnchor;
    std::uint32_t code = size < kRebias + (1u << 23) ? subnormal : normal;
    code = code > kMost ? kMost : code;
    return size > 0x7f800000u ? kNanFp8 : code | (bits >> 24 & 0x80u);
  }

 private:
  static constexpr int kDropped = 23 - kFraction;
  static constexpr std::uint32_t kRebias = (127u - kBias) << 23;
  // A float whose ulp is the unit of subnormals, 2^(1 - kBias - kFraction).
  static constexpr std::uint32_t kAnchor = (127u + 24u - kBias - kFraction) << 23;
};

using E4m3 = Fp8<3, 7, 0x7e, 0x7e>;
using E5m2 = Fp8<2, 15, 0x7b, 0x7c>;

// .relu: negative numbers become +0, NaN stays.
CUDAOPT_INLINE std::uint32_t relu_fp8(std::uint32_t code) { return code >= 0x80u ? 0u : code; }

}  // namespace cudaopt::sim::CUDAOPT_ISA
