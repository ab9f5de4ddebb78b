// Conversions of one number: integers to doubles without loss, doubles to integers and narrower
// floats, each vectorisable and defined for every bit pattern.
#pragma once

#include "sim/half.hpp"
#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr double kTwoTo32 = 4294967296.0, kTwoTo52 = 4503599627370496.0;
inline constexpr double kTwoTo63 = 9223372036854775808.0, kTwoTo64 = 18446744073709551616.0;

// Doubles near 2^52 hold an integer in their low bits: no 64-bit conversion instruction is needed.
CUDAOPT_INLINE double double_of(std::uint32_t x) {
  return bits_as<double>(0x4330000000000000u | std::uint64_t{x}) - kTwoTo52;
}
CUDAOPT_INLINE double double_of(std::int32_t x) {
  return double_of(static_cast<std::uint32_t>(x) ^ kSignF32) - 2147483648.0;
}

// Of an integer between -2^31 and 2^32, as its low 32 bits.
CUDAOPT_INLINE std::uint32_t low_bits_of(double integer) {
  return static_cast<std::uint32_t>(bits_as<std::uint64_t>(integer + 1.5 * kTwoTo52));
}

// A 64-bit integer, with a sticky last bit where it does not fit.
CUDAOPT_INLINE double sticky_of(std::int64_t x) {
  const auto bits = static_cast<std::uint64_t>(x);
  const double upper = double_of(static_cast<std::int32_t>(bits >> 32)) * kTwoTo32;
  return sticky_sum(upper, double_of(static_cast<std::uint32_t>(bits)));
}
CUDAOPT_INLINE double sticky_of(std::uint64_t x) {
  const double upper = double_of(static_cast<std::uint32_t>(x >> 32)) * kTwoTo32;
  return sticky_sum(upper, double_of(static_cast<std::uint32_t>(x)));
}

// // With the NaN's own bits, which `F16::decode` does not keep.
CUDAOPT_INLINE double f64_of_f16(std::uint32_t half) {
  const std::uint64_t nan = std::uint64_t{half & 0x8000u} << 48 | 0x7ff8000000000000u |
                            std::uint64_t{half & 0x3ffu} << 42;
  const double value = F16::decode(half);
  return is_nan<F16>(half) ? bits_as<double>(nan) : value;
}

// What fits of a NaN, made quiet.
template <class Half>
CUDAOPT_INLINE std::uint32_t narrowed_nan(double nan) {
  constexpr int kFraction = Half::Format::kPrecision - 1;
  const auto bits = bits_as<std::uint64_t>(nan) | kQuietF64;
  const auto fraction =
      static_cast<std::uint32_t>(bits >> (52 - kFraction)) & ((1u << kFraction) - 1);
  return static_cast<std::uint32_t>(bits >> 48 & 0x8000u) | Half::kInfinity | fraction;
}

// To a whole number. Numbers too large to have a fraction stay; signs stay, of zeros too.
template <class T>
CUDAOPT_INLINE T whole(T x, Rounding mode) {
  constexpr T kNoFraction = sizeof(T) == 8 ? static_cast<T>(kTwoTo52) : static_cast<T>(8388608.0);
  const T size = magnitude(x);
  T nearest = with_sign_of((size + kNoFraction) - kNoFraction, x);
  switch (mode) {
    case Rounding::rzi:
      nearest = magnitude(nearest) > size ? nearest - with_sign_of(T{1}, x) : nearest;
      break;
    case Rounding::rmi:
      nearest = nearest > x ? nearest - T{1} : nearest;
      break;
    case Rounding::rpi:
      nearest = nearest < x ? nearest + T{1} : nearest;
      break;
    default:
      break;
  }
  return size < kNoFraction ? with_sign_of(nearest, x) : x;
}

// Whole numbers to integers; those outside saturate.
CUDAOPT_INLINE std::int32_t to_s32(float integer) {
  const bool fits = (integer >= -2147483648.0f) & (integer < 2147483648.0f);
  const auto value = static_cast<std::int32_t>(fits ? integer : 0.0f);
  const std::int32_t limit = integer >= 2147483648.0f ? INT32_MAX : INT32_MIN;
  return fits | (integer != integer) ? value : limit;
}

// To at most 32 bits; `least` and `most` are the type's limits.
CUDAOPT_INLINE std::uint32_t to_narrow(double integer, double least, double most, double of_nan) {
  double x = integer >= least ? integer : least;
  x = x > most ? most : x;
  return low_bits_of(integer != integer ? of_nan : x);
}

// NaN gives the top bit alone, as every conversion from f64 or to 64 bits does.
CUDAOPT_INLINE std::int64_t to_s64(double integer) {
  if (integer != integer) return INT64_MIN;
  if (integer >= kTwoTo63) return INT64_MAX;
  return integer < -kTwoTo63 ? INT64_MIN : static_cast<std::int64_t>(integer);
}

CUDAOPT_INLINE std::uint64_t to_u64(double integer) {
  if (integer != integer) return std::uint64_t{1} << 63;
  if (integer >= kTwoTo64) return UINT64_MAX;
  return integer > 0 ? static_cast<std::uint64_t>(integer) : 0;
}

// Integers of 64 bits to f64: the double can be off by less than an ulp, in the direction asked
// for.
template <class Integer>
CUDAOPT_INLINE double to_f64(Integer x, Rounding mode) {
  __extension__ typedef __int128 Wide;
  const auto nearest = static_cast<double>(x);
  const auto bits = bits_as<std::uint64_t>(nearest);
  const Wide excess = static_cast<Wide>(nearest) - static_cast<Wide>(x);
  const bool negative = nearest < 0;
  const bool too_high = excess > 0, too_low = excess < 0;
  const double inward = bits_as<double>(bits - 1), outward = bits_as<double>(bits + 1);
  switch (mode) {
    case Rounding::rz:
      return negative ? (too_low ? inward : nearest) : (too_high ? inward : nearest);
    case Rounding::rm:
      return too_high ? (negative ? outward : inward) : nearest;
    case Rounding::rp:
      return too_low ? (negative ? inward : outward) : nearest;
    default:
      return nearest;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
