// Products of matrices of floats, to the bits an H200 gives: see tensor_sum.hpp for one step of K.
// Included by ops files only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/fragments.hpp"
#include "sim/tensor_sum.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline bool is_fp8(Element element) { return element == Element::e4m3 || element == Element::e5m2; }

// Numbers of 8 bits become halves, and the hardware takes the first two of every four before the
// other two.
inline std::uint32_t turn_of(std::uint32_t k, std::uint32_t count) {
  return k % 4 / 2 * (count / 2) + k / 4 * 2 + k % 2;
}

// Of the smallest normal number in the format that is multiplied.
inline std::int32_t smallest_exponent(Element element) {
  return element == Element::bf16 || element == Element::tf32 ? -126 : -14;
}

struct FloatMatrices {
  TensorOperand a, b;
  alignas(64) float c[256];
};

// The rows of `from`, `count` floats each, in their turns.
inline void take_turns(const float* from, std::uint32_t rows, std::uint32_t count, float* to) {
  for (std::uint32_t row = 0; row < rows; ++row)
    std::copy(from + row * count, from + (row + 1) * count, to + turn_of(row, rows) * count);
}

inline void load_floats(Warp& warp, const WideOperand* a, const WideOperand* b,
                        const MatrixForm& form, FloatMatrices& matrices) {
  const MatrixShape& shape = form.shape;
  gather(warp, a, form.a, shape.m, shape.k, matrices.a.values, {shape.k, 1});
  gather(warp, b, form.b, shape.n, shape.k, matrices.b.values, {1, shape.n});
  if (is_fp8(form.a)) {
    alignas(64) float values[kMaxOperand];
    for (std::uint32_t row = 0; row < shape.m; ++row) {
      float* own = matrices.a.values + row * shape.k;
      std::copy(own, own + shape.k, values);
      take_turns(values, shape.k, 1, own);
    }
    std::copy(matrices.b.values, matrices.b.values + shape.k * shape.n, values);
    take_turns(values, shape.k, shape.n, matrices.b.values);
  }
  matrices.a.complete(std::uint32_t{shape.m} * shape.k, smallest_exponent(form.a));
  matrices.b.complete(std::uint32_t{shape.n} * shape.k, smallest_exponent(form.b));
}

inline bool all_finite(const float* values, std::uint32_t count) {
  return std::all_of(values, values + count, [](float x) { return magnitude(x) < kInfinity; });
}

// D where it is no number: infinities and NaN among the operands decide alone, and doubles find
// out how, in which no product or sum of finite numbers overflows. The operands are left finite.
struct Specials {
  bool any = false;
  float values[256];

  Specials(const MatrixShape& shape, FloatMatrices& matrices) {
    const std::uint32_t count = std::uint32_t{shape.m} * shape.n;
    any = !matrices.a.finite || !matrices.b.finite || !all_finite(matrices.c, count);
    if (!any) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      const float* a = matrices.a.values + i / shape.n * shape.k;
      const float* b = matrices.b.values + i % shape.n;
      double sum = matrices.c[i];
      for (std::uint32_t k = 0; k < shape.k; ++k) sum += static_cast<double>(a[k]) * b[k * shape.n];
      const bool is_number = magnitude(sum) < bits_as<double>(std::uint64_t{0x7ff} << 52);
      values[i] = is_number ? 0.0f : canonical(static_cast<float>(sum));
      matrices.c[i] = all_finite(matrices.c + i, 1) ? matrices.c[i] : 0.0f;
    }
    matrices.a.keep_numbers(std::uint32_t{shape.m} * shape.k);
    matrices.b.keep_numbers(std::uint32_t{shape.n} * shape.k);
  }

  void put_into(float* c, std::uint32_t count) const {
    for (std::uint32_t i = 0; any && i < count; ++i) c[i] = values[i] != 0 ? values[i] : c[i];
  }
};

// Eight neighbouring sums. Those of 8-bit numbers begin at zero, and C is added as an f32.
template <class Number>
void multiply_row(const FloatMatrices& matrices, const MatrixShape& shape, bool fp8, SumPlace place,
                  float* c) {
  if (!fp8) return add_products<Number>(matrices.a, matrices.b, place, shape.k, c);
  float sums[8] = {};
  const std::uint32_t half = shape.k / 2u;
  add_products<Number>(matrices.a, matrices.b, place, half, sums);
  place.a += half;
  place.b += half * place.columns;
  add_products<Number>(matrices.a, matrices.b, place, half, sums);
  for (int i = 0; i < 8; ++i) c[i] = sums[i] + c[i];
}

template <class Number>
void multiply_rows(const FloatMatrices& matrices, const MatrixShape& shape, bool fp8, float* c) {
  for (std::uint32_t row = 0; row < shape.m; ++row)
    for (std::uint32_t column = 0; column < shape.n; column += 8)
      multiply_row<Number>(matrices, shape, fp8,
                           {row * std::uint32_t{shape.k}, column, std::uint32_t{shape.n}},
                           c + row * shape.n + column);
}

inline void multiply_floats(const MatrixForm& form, FloatMatrices& matrices) {
  const MatrixShape& shape = form.shape;
  const Specials specials(shape, matrices);
  if (fits_floats(matrices.a, matrices.b)) {
    multiply_rows<float>(matrices, shape, is_fp8(form.a), matrices.c);
  } else {
    multiply_rows<double>(matrices, shape, is_fp8(form.a), matrices.c);
  }
  specials.put_into(matrices.c, std::uint32_t{shape.m} * shape.n);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
