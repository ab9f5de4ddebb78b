// mma.sync and wmma.mma. Sums begin with C and take the products in ascending order of K: floats
// exact products, each sum rounded to f32, and once more if D is f16; doubles one fma each;
// integers exactly. Tensor cores add floats in an order and a width that nobody documents: results
// agree within a tolerance, not to the bit.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/fragments.hpp"
#include "sim/ops.hpp"
#include "sim/whole_warp.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

struct Floats {
  using Value = float;
  CUDAOPT_INLINE static float step(float sum, float a, float b) { return sum + a * b; }
};

struct Doubles {
  using Value = double;
  CUDAOPT_INLINE static double step(double sum, double a, double b) {
    return __builtin_fma(a, b, sum);
  }
};

CUDAOPT_INLINE std::int32_t add_wrapping(std::int32_t sum, std::int32_t more) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                   static_cast<std::uint32_t>(more));
}

struct Integers {
  using Value = std::int32_t;
  CUDAOPT_INLINE static std::int32_t step(std::int32_t sum, std::int32_t a, std::int32_t b) {
    return add_wrapping(sum, a * b);
  }
};

struct ExclusiveOrs {
  using Value = std::int32_t;
  CUDAOPT_INLINE static std::int32_t step(std::int32_t sum, std::int32_t a, std::int32_t b) {
    return add_wrapping(sum, a ^ b);
  }
};

// A is rows by K, B is K by columns, C is rows by columns; all row after row.
template <class Value>
struct Matrices {
  alignas(64) Value a[4096];
  alignas(64) Value b[4096];
  alignas(64) Value c[256];
};

// Eight columns at a time: a vector register.
template <class Arithmetic, class Value>
void multiply(const MatrixShape& shape, Matrices<Value>& matrices) {
  for (std::uint32_t row = 0; row < shape.m; ++row) {
    const Value* a = matrices.a + row * shape.k;
    for (std::uint32_t column = 0; column < shape.n; column += 8) {
      Value* c = matrices.c + row * shape.n + column;
      Value sums[8];
      std::copy(c, c + 8, sums);
      for (std::uint32_t k = 0; k < shape.k; ++k) {
        const Value* b = matrices.b + k * shape.n + column;
        for (int i = 0; i < 8; ++i) sums[i] = Arithmetic::step(sums[i], a[k], b[i]);
      }
      std::copy(sums, sums + 8, c);
    }
  }
}

void finish(float& sum) { sum = canonical(sum); }
void finish(double& sum) { sum = sum != sum ? first_nan() : sum; }
void finish(std::int32_t&) {}

template <class Arithmetic>
std::int32_t multiply_add(Warp& warp, const Op& op, std::uint32_t mask) {
  using Value = typename Arithmetic::Value;
  check_whole_warp(warp, op, mask);
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<MatrixForm>(wide);
  const MatrixShape& shape = form.shape;
  const WideOperand* d = wide.operands.data();
  const WideOperand* a = d + form.d_registers;
  const WideOperand* b = a + form.a_registers;
  Matrices<Value> matrices;
  gather(warp, a, form.a, shape.m, shape.k, matrices.a, {shape.k, 1});
  gather(warp, b, form.b, shape.n, shape.k, matrices.b, {1, shape.n});
  gather_accumulator(warp, b + form.b_registers, shape, form.c, matrices.c);
  multiply<Arithmetic>(shape, matrices);
  for (std::uint32_t i = 0; i < std::uint32_t{shape.m} * shape.n; ++i) finish(matrices.c[i]);
  scatter_accumulator(warp, d, shape, form.d, matrices.c);
  return op.pc + 1;
}

// .satfinite: the exact sum, then the nearest integer there is.
std::int32_t multiply_add_saturated(Warp& warp, const Op& op, std::uint32_t mask) {
  check_whole_warp(warp, op, mask);
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<MatrixForm>(wide);
  const MatrixShape& shape = form.shape;
  const WideOperand* d = wide.operands.data();
  const WideOperand* a = d + form.d_registers;
  const WideOperand* b = a + form.a_registers;
  const std::uint32_t count = std::uint32_t{shape.m} * shape.n;
  Matrices<std::int32_t> matrices;
  std::int32_t addends[256];
  gather(warp, a, form.a, shape.m, shape.k, matrices.a, {shape.k, 1});
  gather(warp, b, form.b, shape.n, shape.k, matrices.b, {1, shape.n});
  gather_accumulator(warp, b + form.b_registers, shape, form.c, addends);
  std::fill_n(matrices.c, count, 0);
  multiply<Integers>(shape, matrices);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t sum = std::int64_t{matrices.c[i]} + addends[i];
    matrices.c[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        sum, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }
  scatter_accumulator(warp, d, shape, form.d, matrices.c);
  return op.pc + 1;
}

Handler handler_of(const MatrixForm& form) {
  if (form.d == Element::f64) return multiply_add<Doubles>;
  if (form.d != Element::s32) return multiply_add<Floats>;
  if (form.saturates) return multiply_add_saturated;
  return form.product == Product::exclusive_or ? multiply_add<ExclusiveOrs>
                                               : multiply_add<Integers>;
}

}  // namespace

std::optional<Binding> bind_matrix(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = matrix_form(instruction);
  if (!form) return std::nullopt;
  Binding binding;
  binding.full = binding.masked = handler_of(*form);
  binding.pipe = Pipe::tensor;
  binding.latency = 33;  // H100, m16n8k16 of f16: Luo et al., "Benchmarking … Hopper", 2024
  const Slot slot = form->d == Element::f64 ? Slot::b64 : Slot::b32;
  binding.wide.assign(
      std::size_t{form->d_registers} + form->a_registers + form->b_registers + form->c_registers,
      slot);
  binding.wide_results = form->d_registers;
  binding.form = bytes_of(*form);
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
