// Sums of products as the tensor cores of an H200 form them, to the bit: found by experiment, and
// held to it by tests/golden/tensor_cores.json. Up to 16 products and the addend are aligned to the
// largest exponent among them and cut off 25 bits below it, added exactly, and the sum is cut off
// to f32. Exponents are those written in the operands: a product of 1.5 and 1.5 counts as 1.
// Included by ops files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sim/matrix_form.hpp"
#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline constexpr std::int32_t kNoExponent = -100000;  // of zero
inline constexpr std::int32_t kKeptBits = 25;
inline constexpr std::uint32_t kMaxOperand = 1024;  // elements of A or B
inline constexpr float kInfinity = 0x1p127f * 2;

// Eight neighbouring columns. Spelled as vectors, because compilers turn these loops inside out.
template <class T>
struct EightOf {
  using Type [[gnu::vector_size(8 * sizeof(T))]] = T;
};
template <class T>
using Eight = typename EightOf<T>::Type;
using Ints = Eight<std::int32_t>;

template <class T>
CUDAOPT_INLINE void load(const T* from, Eight<T>& into) {
  std::memcpy(&into, from, sizeof into);
}

// Subnormal numbers have the exponent of the smallest normal one.
CUDAOPT_INLINE std::int32_t exponent_of(float x, std::int32_t smallest) {
  const auto bits = bits_as<std::uint32_t>(x) & ~kSignF32;
  const std::int32_t exponent = static_cast<std::int32_t>(bits >> 23) - 127;
  return bits == 0 ? kNoExponent : (exponent < smallest ? smallest : exponent);
}

// An operand of floats and their exponents.
struct TensorOperand {
  alignas(64) float values[kMaxOperand];
  alignas(64) std::int32_t exponents[kMaxOperand];
  std::int32_t lowest = 0, highest = 0;  // exponents, beside zero
  bool finite = true;

  // After `count` values were written: `smallest` is the exponent of the smallest normal number.
  // Integers only, which compilers make vectors of.
  void complete(std::uint32_t count, std::int32_t smallest) {
    std::int32_t largest_bits = 0, low = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto bits = static_cast<std::int32_t>(bits_as<std::uint32_t>(values[i]) & ~kSignF32);
      std::int32_t exponent = (bits >> 23) - 127;
      exponent = exponent < smallest ? smallest : exponent;
      exponents[i] = bits == 0 ? kNoExponent : exponent;
      const std::int32_t own = bits == 0 ? 0 : exponent;
      low = own < low ? own : low;
      largest_bits = bits > largest_bits ? bits : largest_bits;
    }
    finite = largest_bits < 0x7f800000;
    lowest = low;
    highest = (largest_bits >> 23) - 127;
  }

  // Zeros in place of infinities and NaN.
  void keep_numbers(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (magnitude(values[i]) < kInfinity) continue;
      values[i] = 0;
      exponents[i] = kNoExponent;
    }
  }
};

// Whether floats hold every product and every scaled one: all but extreme bf16 and tf32.
[[nodiscard]] inline bool fits_floats(const TensorOperand& a, const TensorOperand& b) {
  return a.lowest + b.lowest >= -100 && a.highest + b.highest <= 125;
}

template <class Number>
CUDAOPT_INLINE Number power_of_two(std::int32_t exponent) {
  if constexpr (sizeof(Number) == 4)
    return bits_as<float>(static_cast<std::uint32_t>(127 + exponent) << 23);
  return static_cast<Number>(bits_as<double>(static_cast<std::uint64_t>(1023 + exponent) << 52));
}

// The largest float not beyond `x`; infinity from 2^128 on. Zeros are positive.
CUDAOPT_INLINE float cut_off(double x) {
  const auto nearest = static_cast<float>(x);
  const double size = magnitude(x), rounded = magnitude(static_cast<double>(nearest));
  const bool below = rounded > size && size < 0x1p128;
  return bits_as<float>(bits_as<std::uint32_t>(nearest) - (below ? 1u : 0u)) + 0.0f;
}

// Where eight sums begin, in elements: a row of A is contiguous, rows of B are `columns` apart.
struct SumPlace {
  std::uint32_t a = 0, b = 0, columns = 0;
};

CUDAOPT_INLINE void find_largest(const TensorOperand& a, const TensorOperand& b, SumPlace place,
                                 std::uint32_t count, const float* sums, Ints& largest) {
  for (int i = 0; i < 8; ++i) largest[i] = exponent_of(sums[i], -126);
  for (std::uint32_t k = 0; k < count; ++k) {
    Ints exponents;
    load(b.exponents + place.b + k * place.columns, exponents);
    exponents += a.exponents[place.a + k];
    largest = exponents > largest ? exponents : largest;
  }
}

// Adds `count` products, an even number, to eight neighbouring sums. `Number` is float where
// `fits_floats`; a term has 27 bits, so eight of them fit an integer.
template <class Number>
void add_products(const TensorOperand& a, const TensorOperand& b, SumPlace place,
                  std::uint32_t count, float* sums) {
  Ints largest;
  find_largest(a, b, place, count, sums, largest);
  Eight<Number> scale;
  // Floats: below -100 all products are zero, and the sum stays what it was.
  constexpr std::int32_t kLowest = sizeof(Number) == 4 ? -100 : -400;
  for (int i = 0; i < 8; ++i)
    scale[i] = power_of_two<Number>(kKeptBits - std::max(largest[i], kLowest));
  Ints even{}, odd{};
  for (std::uint32_t k = 0; k < count; k += 2) {
    Eight<float> first, second;
    load(b.values + place.b + k * place.columns, first);
    load(b.values + place.b + (k + 1) * place.columns, second);
    const auto x = static_cast<Number>(a.values[place.a + k]);
    const auto y = static_cast<Number>(a.values[place.a + k + 1]);
    even +=
        __builtin_convertvector(__builtin_convertvector(first, Eight<Number>) * x * scale, Ints);
    odd +=
        __builtin_convertvector(__builtin_convertvector(second, Eight<Number>) * y * scale, Ints);
  }
  for (int i = 0; i < 8; ++i) {
    const auto addend = static_cast<std::int32_t>(static_cast<Number>(sums[i]) * scale[i]);
    const double total = static_cast<double>(even[i]) + odd[i] + addend;
    const double unit = power_of_two<double>(std::max(largest[i], kLowest) - kKeptBits);
    sums[i] = largest[i] < kLowest ? sums[i] + 0.0f : cut_off(total * unit);
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
