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
inline std::uint32_t turn_of(std::uint32_t k, std::uint32_t count, bool fp8) {
  if (!fp8) return k;
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

inline void load_floats(Warp& warp, const WideOperand* a, const WideOperand* b,
                        const MatrixForm& form, FloatMatrices& matrices) {
  const MatrixShape& shape = form.shape;
  const bool fp8 = is_fp8(form.a);
  alignas(64) float values[kMaxOperand];
  gather(warp, a, form.a, shape.m, shape.k, values, {shape.k, 1});
  for (std::uint32_t row = 0; row < shape.m; ++row)
    for (std::uint32_t k = 0; k < shape.k; ++k)
      matrices.a.set(row * shape.k + turn_of(k, shape.k, fp8), values[row * shape.k + k],
                     smallest_exponent(form.a));
  gather(warp, b, form.b, shape.n, shape.k, values, {1, shape.n});
  for (std::uint32_t k = 0; k < shape.k; ++k)
    for (std::uint32_t column = 0; column < shape.n; ++column)
      matrices.b.set(turn_of(k, shape.k, fp8) * shape.n + column, values[k * shape.n + column],
                     smallest_exponent(form.b));
}

inline bool all_finite(const float* values, std::uint32_t count) {
  return std::all_of(values, values + count,
                     [](float x) { return magnitude(x) < bits_as<float>(0x7f800000u); });
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
      const double* a = matrices.a.values + i / shape.n * shape.k;
      const double* b = matrices.b.values + i % shape.n;
      double sum = matrices.c[i];
      for (std::uint32_t k = 0; k < shape.k; ++k) sum += a[k] * b[k * shape.n];
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

// Eight neighbouring sums.
inline void multiply_row(const FloatMatrices& matrices, const MatrixShape& shape, bool fp8,
                         std::uint32_t row, std::uint32_t column, float* c) {
  const std::uint32_t step = fp8 ? shape.k / 2u : shape.k;
  float sums[8] = {};
  if (!fp8) std::copy(c, c + 8, sums);
  for (std::uint32_t k = 0; k < shape.k; k += step)
    add_products(matrices.a, row * shape.k + k, matrices.b, k * shape.n + column, shape.n, step,
                 sums);
  for (int i = 0; i < 8; ++i) c[i] = fp8 ? sums[i] + c[i] : sums[i];  // a plain f32 sum at the end
}

inline void multiply_floats(const MatrixForm& form, FloatMatrices& matrices) {
  const MatrixShape& shape = form.shape;
  const Specials specials(shape, matrices);
  for (std::uint32_t row = 0; row < shape.m; ++row)
    for (std::uint32_t column = 0; column < shape.n; column += 8)
      multiply_row(matrices, shape, is_fp8(form.a), row, column,
                   matrices.c + row * shape.n + column);
  specials.put_into(matrices.c, std::uint32_t{shape.m} * shape.n);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
