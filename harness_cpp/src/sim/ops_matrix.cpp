// mma.sync and wmma.mma. Sums begin with C and take the products in ascending order of K: floats
// exact products, each sum rounded to f32, and once more if D is f16; doubles one fma each;
// integers exactly. Tensor cores add floats in an order and a width that nobody documents: results
// agree within a tolerance, not to the bit.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/float_matrices.hpp"
#include "sim/ops.hpp"
#include "sim/whole_warp.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

struct Doubles {
  using Value = double;
  CUDAOPT_INLINE static double step(double sum, double a, double b) {
    return keeping_nan(__builtin_fma(a, b, sum), b, sum, a);
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

template <class Arithmetic>
std::int32_t multiply_add(Warp& warp, const Op& op, std::uint32_t mask) {
  using Value = typename Arithmetic::Value;
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
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
  scatter_accumulator(warp, d, shape, form.d, matrices.c);
  return op.pc + 1;
}

std::int32_t multiply_add_floats(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<MatrixForm>(wide);
  const WideOperand* d = wide.operands.data();
  const WideOperand* a = d + form.d_registers;
  const WideOperand* b = a + form.a_registers;
  FloatMatrices matrices;
  load_floats(warp, a, b, form, matrices);
  gather_accumulator(warp, b + form.b_registers, form.shape, form.c, matrices.c);
  multiply_floats(form, matrices);
  scatter_accumulator(warp, d, form.shape, form.d, matrices.c);
  return op.pc + 1;
}

// .satfinite: the exact sum, then the nearest integer there is.
std::int32_t multiply_add_saturated(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
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
  if (form.d != Element::s32) return multiply_add_floats;
  if (form.saturates) return multiply_add_saturated;
  return form.product == Product::exclusive_or ? multiply_add<ExclusiveOrs>
                                               : multiply_add<Integers>;
}

// Measured on an H200, in cycles from one to the next that depends on it: mma.sync m16n8k8 of f16
// 17, m16n8k16 24, m16n8k8 of tf32 24, m16n8k32 of s8 24, m8n8k4 of f64 26.
std::uint16_t latency_of(const MatrixForm& form) {
  if (form.d == Element::f64) return 26;
  const std::uint32_t bits = form.shape.k * bits_of(form.a);
  return bits <= 128 ? 17 : 24;
}

}  // namespace

std::optional<Binding> bind_matrix(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = matrix_form(instruction);
  if (!form) return std::nullopt;
  Binding binding;
  binding.full = binding.masked = handler_of(*form);
  binding.pipe = Pipe::tensor;
  binding.latency = latency_of(*form);
  const Slot slot = form->d == Element::f64 ? Slot::b64 : Slot::b32;
  binding.wide.assign(
      std::size_t{form->d_registers} + form->a_registers + form->b_registers + form->c_registers,
      slot);
  binding.wide_results = form->d_registers;
  binding.form = bytes_of(*form);
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
