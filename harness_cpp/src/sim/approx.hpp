// The approximate functions of PTX (ex2, lg2, sin, cos, tanh), evaluated in double by polynomials
// of our own: well inside the documented error bounds, vectorisable, and, without libm or fused
// operations, the same bits on every host. Coefficients are Chebyshev fits over the reduced ranges.
#pragma once

#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA::approx {

// Adding it leaves the nearest integer in the low bits of a double.
inline constexpr double kIntegerAnchor = 6755399441055744.0;  // 1.5 * 2^52

// 2^x to a relative 1e-10, for |x| up to 1000; beyond 200 in magnitude as at 200.
CUDAOPT_INLINE double exp2(double x) {
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  const double anchored = x + kIntegerAnchor;
  const double t = x - (anchored - kIntegerAnchor);
  double p = 1.5303702521684725e-05;
  p = p * t + 0.00015461447461604478;
  p = p * t + 0.0013333478466945913;
  p = p * t + 0.009618056669890252;
  p = p * t + 0.05550410906332133;
  p = p * t + 0.24022650922342725;
  p = p * t + 0.6931471805568318;
  p = p * t + 1.0;
  return p * power_of_two(bits_as<std::uint64_t>(anchored) + 1023);
}

CUDAOPT_INLINE float ex2(float x) { return canonical(static_cast<float>(exp2(x))); }

// Every float is a normal double, so subnormal arguments need no care.
CUDAOPT_INLINE float lg2(float x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdu, kOne = 0x3ff0000000000000u;
  const auto bits = bits_as<std::uint64_t>(static_cast<double>(x));
  const std::uint64_t exponent = (bits + (kOne - kRootHalf)) >> 52;  // biased; mantissa near 1
  const double m = bits_as<double>(bits - (exponent << 52) + kOne);
  const double scale =
      bits_as<double>(0x4330000000000000u | exponent) - 4503599627370496.0 - 1023.0;
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0.28292925990817497;
  p = p * z + 0.31990404463311184;
  p = p * z + 0.41220928025920817;
  p = p * z + 0.5770779422751954;
  p = p * z + 0.9617966941123586;
  p = p * z + 2.885390081777855;
  float result = static_cast<float>(p * s + scale);
  result = x == 0.0f ? bits_as<float>(0xff800000u) : result;
  result = x > 0.0f || x == 0.0f ? result : bits_as<float>(kNanF32);
  return x == bits_as<float>(0x7f800000u) ? x : result;
}

// sin of `turn` full turns, |turn| <= 1/4.
CUDAOPT_INLINE double sine_of_turn(double turn) {
  const double z = turn * turn;
  double p = 3.665882373388772;
  p = p * z - 15.08148793386546;
  p = p * z + 42.058135175322874;
  p = p * z - 76.70584755259043;
  p = p * z + 81.60524914912568;
  p = p * z - 41.34170223990409;
  p = p * z + 6.283185307179274;
  return p * turn;
}

// The fraction of a full turn, in [-1/2, 1/2]. Its error grows with |x|, as the hardware's does.
CUDAOPT_INLINE double fraction_of_turn(float x) {
  const double turns = static_cast<double>(x) * 0.15915494309189535;
  const double whole =
      magnitude(turns) < 2251799813685248.0 ? (turns + kIntegerAnchor) - kIntegerAnchor : turns;
  return turns - whole;
}

CUDAOPT_INLINE float sin(float x) {
  const double f = fraction_of_turn(x);
  const double size = magnitude(f);
  const double folded = size > 0.25 ? 0.5 - size : size;
  return canonical(static_cast<float>(sine_of_turn(with_sign_of(folded, f))));
}

CUDAOPT_INLINE float cos(float x) {
  return canonical(static_cast<float>(sine_of_turn(0.25 - magnitude(fraction_of_turn(x)))));
}

CUDAOPT_INLINE float tanh(float x) {
  const double wide = x;
  const double z = wide * wide;
  double p = 0.020540530046400548;
  p = p * z - 0.053896578452419595;
  p = p * z + 0.13333174449962568;
  p = p * z - 0.33333332097208335;
  p = p * z + 0.9999999999845917;
  const double power = exp2(wide * 2.8853900817779268);
  const double large = (power - 1.0) / (power + 1.0);
  return canonical(static_cast<float>(magnitude(wide) < 0.25 ? p * wide : large));
}

}  // namespace cudaopt::sim::CUDAOPT_ISA::approx
