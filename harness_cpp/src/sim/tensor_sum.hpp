// Sums of products as the tensor cores of an H200 form them, to the bit: found by experiment, and
// held to it by tests/golden/tensor_cores.json. Up to 16 products and the addend are aligned to the
// largest exponent among them and cut off 25 bits below it, added exactly, and the sum is cut off
// to f32. Exponents are those written in the operands: a product of 1.5 and 1.5 counts as 1.
// Included by ops files only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/matrix_form.hpp"
#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr std::int32_t kNoExponent = -100000;  // of zero
inline constexpr std::int32_t kKeptBits = 25;
inline constexpr std::uint32_t kMaxOperand = 1024;  // elements of A or B

// An operand of floats; every product of two is exact in double.
struct TensorOperand {
  alignas(64) double values[kMaxOperand];
  alignas(64) std::int32_t exponents[kMaxOperand];
  bool finite = true;

  CUDAOPT_INLINE void set(std::uint32_t at, float x, std::int32_t smallest) {
    values[at] = x;
    exponents[at] = exponent_of(x, smallest);
    finite &= magnitude(x) < bits_as<float>(0x7f800000u);
  }

  // Zeros in place of infinities and NaN.
  void keep_numbers(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (!(magnitude(values[i]) < 0x1p200)) {
        values[i] = 0;
        exponents[i] = kNoExponent;
      }
  }

  // Subnormal numbers have the exponent of the smallest normal one.
  CUDAOPT_INLINE static std::int32_t exponent_of(float x, std::int32_t smallest) {
    const auto bits = bits_as<std::uint32_t>(x) & ~kSignF32;
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 23) - 127;
    return bits == 0 ? kNoExponent : (exponent < smallest ? smallest : exponent);
  }
};

CUDAOPT_INLINE double power_of_two(std::int32_t exponent) {
  return bits_as<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

// The largest float not beyond `x`; infinity from 2^128 on. Zeros are positive.
CUDAOPT_INLINE float cut_off(double x) {
  const auto nearest = static_cast<float>(x);
  const double size = magnitude(x), rounded = magnitude(static_cast<double>(nearest));
  const bool below = rounded > size && size < 0x1p128;
  return bits_as<float>(bits_as<std::uint32_t>(nearest) - (below ? 1u : 0u)) + 0.0f;
}

// Adds the products over `count` places of K, from `first` on, to eight neighbouring sums. A row
// of A is contiguous; rows of B are `columns` apart.
inline void add_products(const TensorOperand& a, std::uint32_t a_first, const TensorOperand& b,
                         std::uint32_t b_first, std::uint32_t columns, std::uint32_t count,
                         float* sums) {
  std::int32_t largest[8];
  for (int i = 0; i < 8; ++i) largest[i] = TensorOperand::exponent_of(sums[i], -126);
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::int32_t* exponents = b.exponents + b_first + k * columns;
    const std::int32_t own = a.exponents[a_first + k];
    for (int i = 0; i < 8; ++i)
      largest[i] = own + exponents[i] > largest[i] ? own + exponents[i] : largest[i];
  }
  double scale[8], total[8];
  for (int i = 0; i < 8; ++i) {
    largest[i] = largest[i] < kNoExponent / 2 ? 0 : largest[i];
    scale[i] = power_of_two(kKeptBits - largest[i]);
    total[i] = static_cast<std::int32_t>(sums[i] * scale[i]);
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    const double* values = b.values + b_first + k * columns;
    const double own = a.values[a_first + k];
    for (int i = 0; i < 8; ++i) total[i] += static_cast<std::int32_t>(own * values[i] * scale[i]);
  }
  for (int i = 0; i < 8; ++i) sums[i] = cut_off(total[i] * power_of_two(largest[i] - kKeptBits));
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
