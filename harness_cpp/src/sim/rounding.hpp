// Floating-point results rounded as PTX asks, on hardware left in round-to-nearest: canonical NaN,
// flushing, and directed rounding from a double whose last bit is sticky.
//
// A sticky double is the exact result rounded to odd: the exact result itself if it fits, else the
// neighbour with an odd last bit. It lies on the same side of every narrower number and midpoint as
// the exact result, so one more rounding, in any direction, gives what a single rounding would have
// given. No vector loop then needs fesetround.
#pragma once

#include "sim/alu.hpp"
#include "sim/form.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// PTX fixes NaN results of f32 to this. For f64 it promises nothing; an H200 keeps the NaN of an
// operand, made quiet, and else gives this one.
inline constexpr std::uint32_t kNanF32 = 0x7fffffffu;
inline constexpr std::uint64_t kNanF64 = 0xfff8000000000000u, kQuietF64 = 0x0008000000000000u;
inline constexpr std::uint32_t kSignF32 = 0x80000000u;
inline constexpr std::uint64_t kSignF64 = 0x8000000000000000u;

CUDAOPT_INLINE float canonical(float x) { return x != x ? bits_as<float>(kNanF32) : x; }

CUDAOPT_INLINE bool sign_bit(float x) { return (bits_as<std::uint32_t>(x) & kSignF32) != 0; }
CUDAOPT_INLINE bool sign_bit(double x) { return (bits_as<std::uint64_t>(x) & kSignF64) != 0; }

CUDAOPT_INLINE float magnitude(float x) {
  return bits_as<float>(bits_as<std::uint32_t>(x) & ~kSignF32);
}
CUDAOPT_INLINE double magnitude(double x) {
  return bits_as<double>(bits_as<std::uint64_t>(x) & ~kSignF64);
}

// `size` with the sign of `sign`.
CUDAOPT_INLINE float with_sign_of(float size, float sign) {
  return bits_as<float>((bits_as<std::uint32_t>(size) & ~kSignF32) |
                        (bits_as<std::uint32_t>(sign) & kSignF32));
}
CUDAOPT_INLINE double with_sign_of(double size, double sign) {
  return bits_as<double>((bits_as<std::uint64_t>(size) & ~kSignF64) |
                         (bits_as<std::uint64_t>(sign) & kSignF64));
}

// Subnormal numbers become zeros of the same sign (.ftz).
CUDAOPT_INLINE float flush(float x) {
  const auto bits = bits_as<std::uint32_t>(x);
  return bits_as<float>((bits & 0x7f800000u) == 0 ? bits & kSignF32 : bits);
}

// Which operand's NaN an f64 result keeps: the first that is one. The order is spelled out, because
// the compiler may swap operands, and the processor's own choice with them.
CUDAOPT_INLINE double first_nan() { return bits_as<double>(kNanF64); }
template <class... Doubles>
CUDAOPT_INLINE double first_nan(double first, Doubles... rest) {
  const double quiet = bits_as<double>(bits_as<std::uint64_t>(first) | kQuietF64);
  return first != first ? quiet : first_nan(rest...);
}
template <class... Doubles>
CUDAOPT_INLINE double keeping_nan(double result, Doubles... operands) {
  return result != result ? first_nan(operands...) : result;
}

// .ftz of a result that may have been rounded up to the smallest normal number: the hardware looks
// at the result rounded to full precision below it. `scaled` is the same result times 2^24, where
// that precision is at hand.
CUDAOPT_INLINE float flush_tiny(float x, float scaled) {
  const bool tiny = magnitude(scaled) < 0x1p-102f;
  const auto bits = bits_as<std::uint32_t>(x);
  return bits_as<float>(tiny ? bits & kSignF32 : bits);
}

// .sat: to [0, 1], NaN to +0.
template <class T>
CUDAOPT_INLINE T saturate(T x) {
  const T positive = x > T{0} ? x : T{0};
  return positive < T{1} ? positive : T{1};
}

// `value` is the exact result rounded to nearest; only the sign of `error`, what is missing,
// matters.
CUDAOPT_INLINE double sticky(double value, double error) {
  const auto bits = bits_as<std::uint64_t>(value);
  const bool inexact = (error > 0) | (error < 0);  // a NaN error belongs to an infinite value
  const bool outward = (error > 0) != sign_bit(value);
  const std::uint64_t odd = (bits & 1) != 0 ? bits : (outward ? bits + 1 : bits - 1);
  return bits_as<double>(inexact ? odd : bits);
}

// Knuth's two-sum gives the error of a sum exactly.
template <class T>
CUDAOPT_INLINE T error_of_sum(T a, T b, T sum) {
  const T second = sum - a;
  return (a - (sum - second)) + (b - second);
}

CUDAOPT_INLINE double sticky_sum(double a, double b) {
  const double sum = a + b;
  return sticky(sum, error_of_sum(a, b, sum));
}

// Products of two floats fit a double, so this is a*b + c with one sticky rounding.
CUDAOPT_INLINE double sticky_fma(float a, float b, float c) {
  return sticky_sum(static_cast<double>(a) * b, c);
}

CUDAOPT_INLINE float one_ulp_inward(float x) {
  return bits_as<float>(bits_as<std::uint32_t>(x) - 1);
}
CUDAOPT_INLINE float one_ulp_outward(float x) {
  return bits_as<float>(bits_as<std::uint32_t>(x) + 1);
}

// Conversion to nearest keeps the sign, also of results that vanish, so the neighbour towards zero
// is one less in bits and the neighbour away from it one more, whatever the sign.
template <Rounding kMode>
CUDAOPT_INLINE float round_to_f32(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const float inward = one_ulp_inward(nearest), outward = one_ulp_outward(nearest);
  if constexpr (kMode == Rounding::rz) return magnitude(back) > magnitude(x) ? inward : nearest;
  if constexpr (kMode == Rounding::rm)
    return back > x ? (sign_bit(nearest) ? outward : inward) : nearest;
  if constexpr (kMode == Rounding::rp)
    return back < x ? (sign_bit(nearest) ? inward : outward) : nearest;
  return nearest;
}

// A narrower binary format inside the range of double.
template <int kDigits, int kLeast, int kLargest>
struct BinaryFormat {
  static constexpr int kPrecision = kDigits;     // significand bits, the hidden one included
  static constexpr int kMinExponent = kLeast;    // of the smallest normal number
  static constexpr int kMaxExponent = kLargest;  // of the largest finite number
};
using FormatF16 = BinaryFormat<11, -14, 15>;
using FormatBf16 = BinaryFormat<8, -126, 127>;
using FormatTf32 = BinaryFormat<11, -126, 127>;
using FormatF32 = BinaryFormat<24, -126, 127>;

CUDAOPT_INLINE double power_of_two(std::uint64_t biased_exponent) {
  return bits_as<double>(biased_exponent << 52);
}

// What an overflow rounds to: the largest finite number, or infinity.
template <class Format>
CUDAOPT_INLINE double overflowed(double x, Rounding mode) {
  constexpr int kTop = 1023 + Format::kMaxExponent;
  const double largest = power_of_two(kTop) * (2.0 - 1.0 / (1 << (Format::kPrecision - 1)));
  const bool stays_finite =
      mode == Rounding::rz || (mode == Rounding::rm && x > 0) || (mode == Rounding::rp && x < 0);
  const double infinity = power_of_two(0x7ff);
  return with_sign_of(stays_finite && magnitude(x) < infinity ? largest : infinity, x);
}

// Rounds to a number of `Format`, returned as the double it equals.
template <class Format>
CUDAOPT_INLINE double round_to(double x, Rounding mode) {
  constexpr std::uint64_t kLow = 1023 + Format::kMinExponent, kHigh = 1023 + Format::kMaxExponent;
  std::uint64_t exponent = (bits_as<std::uint64_t>(x) >> 52) & 0x7ff;
  exponent = exponent < kLow ? kLow : exponent;
  exponent = exponent > kHigh + 1 ? kHigh + 1 : exponent;
  const double ulp = power_of_two(exponent - (Format::kPrecision - 1));
  // Adding a number whose own ulp is the wanted one rounds to it, ties to even.
  const double anchor = power_of_two(exponent + 52 - (Format::kPrecision - 1)) * 1.5;
  double nearest = (x + anchor) - anchor;
  switch (mode) {
    case Rounding::rz:
      nearest = magnitude(nearest) > magnitude(x) ? nearest - with_sign_of(ulp, x) : nearest;
      break;
    case Rounding::rm:
      nearest = nearest > x ? nearest - ulp : nearest;
      break;
    case Rounding::rp:
      nearest = nearest < x ? nearest + ulp : nearest;
      break;
    case Rounding::rna: {
      const double missing = magnitude(x) - magnitude(nearest);
      nearest = missing == ulp / 2 ? nearest + with_sign_of(ulp, x) : nearest;
      break;
    }
    default:
      break;
  }
  nearest = with_sign_of(nearest, x);
  const double limit = power_of_two(kHigh + 1);
  const bool over = magnitude(nearest) >= limit;
  return over ? overflowed<Format>(x, mode) : nearest;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
