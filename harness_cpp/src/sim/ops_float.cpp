// f32 arithmetic: sums, products, extremes, signs, questions about a number.
#include "sim/f32_arithmetic.hpp"
#include "sim/families.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

CUDAOPT_INLINE float negate(Flags flags, float x) { return flush_if(flags, canonical(-x)); }
CUDAOPT_INLINE float absolute(Flags flags, float x) {
  return flush_if(flags, canonical(magnitude(x)));
}
CUDAOPT_INLINE float copy_sign(float sign, float size) { return with_sign_of(size, sign); }

template <bool kMaximum>
CUDAOPT_INLINE float plain_extreme(float a, float b) {
  return canonical(extreme<kMaximum>(a, b));
}
template <bool kMaximum>
CUDAOPT_INLINE float flagged_extreme(Flags flags, float a, float b) {
  return extreme_with<kMaximum>(flags, flush_if(flags, a), flush_if(flags, b));
}

// Of three; .abs: of the magnitudes.
template <bool kMaximum>
CUDAOPT_INLINE float extreme_of_three(Flags flags, float a, float b, float c) {
  const auto read = [&](float x) { return flush_if(flags, flags.has(kAbs) ? magnitude(x) : x); };
  return extreme_with<kMaximum>(flags, extreme_with<kMaximum>(flags, read(a), read(b)), read(c));
}

// testp: the question is the Modifier's number. Zeros count as normal.
template <class T>
CUDAOPT_INLINE bool test_property(Flags question, T x) {
  const T size = magnitude(x);
  const T infinity = static_cast<T>(bits_as<float>(0x7f800000u));
  const T least =
      sizeof(T) == 8 ? static_cast<T>(2.2250738585072014e-308) : static_cast<T>(1.17549435e-38f);
  switch (static_cast<Modifier>(question.bits)) {
    case Modifier::finite:
      return size < infinity;
    case Modifier::infinite:
      return size == infinity;
    case Modifier::number:
      return x == x;
    case Modifier::notanumber:
      return x != x;
    case Modifier::normal:
      return (size >= least && size < infinity) || size == T{0};
    default:
      return size > T{0} && size < least;
  }
}

constexpr std::uint16_t kSimple = 4;

template <class Operation, class... Floats>
Binding bind_rounded(const Form& form) {
  const Flags flags = float_flags(form);
  switch (form.rounding) {
    case Rounding::rz:
      return lanewise<f32::rounded<Operation, Rounding::rz, Floats...>>(Pipe::fp32, kSimple, flags);
    case Rounding::rm:
      return lanewise<f32::rounded<Operation, Rounding::rm, Floats...>>(Pipe::fp32, kSimple, flags);
    case Rounding::rp:
      return lanewise<f32::rounded<Operation, Rounding::rp, Floats...>>(Pipe::fp32, kSimple, flags);
    default:
      break;
  }
  if (flags.bits == 0) return lanewise<f32::plain<Operation, Floats...>>(Pipe::fp32, kSimple);
  if (flags.bits == kFtz) return lanewise<f32::flushed<Operation, Floats...>>(Pipe::fp32, kSimple);
  return lanewise<f32::with_flags<Operation, Floats...>>(Pipe::fp32, kSimple, flags);
}

std::optional<Binding> bind_extreme_of_three(const Form& form) {
  using M = Modifier;
  if (form.type() != Type::f32 || !form.only({M::ftz, M::nan_result, M::abs})) return std::nullopt;
  Flags flags = float_flags(form);
  if (form.has(M::abs)) flags.bits |= kAbs;
  return form.opcode == Opcode::max ? lanewise<extreme_of_three<true>>(Pipe::fp32, kSimple, flags)
                                    : lanewise<extreme_of_three<false>>(Pipe::fp32, kSimple, flags);
}

template <bool kMaximum>
Binding bind_extreme(const Form& form) {
  const Flags flags = float_flags(form);
  if (flags.bits == 0) return lanewise<plain_extreme<kMaximum>>(Pipe::fp32, kSimple);
  return lanewise<flagged_extreme<kMaximum>>(Pipe::fp32, kSimple, flags);
}

std::optional<Binding> bind_f32(const Form& form) {
  using M = Modifier;
  switch (form.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::fma:
    case Opcode::mad:
      if (!form.only({M::ftz, M::sat})) return std::nullopt;
      break;
    case Opcode::min:
    case Opcode::max:
      if (!form.only({M::ftz, M::nan_result, M::xorsign, M::abs})) return std::nullopt;
      if (form.has(M::abs) != form.has(M::xorsign)) return std::nullopt;
      break;
    default:
      if (!form.only({M::ftz})) return std::nullopt;
  }
  switch (form.opcode) {
    case Opcode::add:
      return bind_rounded<f32::Add, float, float>(form);
    case Opcode::sub:
      return bind_rounded<f32::Subtract, float, float>(form);
    case Opcode::mul:
      return bind_rounded<f32::Multiply, float, float>(form);
    case Opcode::fma:
    case Opcode::mad:
      return bind_rounded<f32::FusedMultiplyAdd, float, float, float>(form);
    case Opcode::min:
      return bind_extreme<false>(form);
    case Opcode::max:
      return bind_extreme<true>(form);
    case Opcode::neg:
      return lanewise<negate>(Pipe::fp32, kSimple, float_flags(form));
    case Opcode::abs:
      return lanewise<absolute>(Pipe::fp32, kSimple, float_flags(form));
    case Opcode::copysign:
      return lanewise<copy_sign>(Pipe::integer, kSimple);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_testp(const Form& form) {
  if (form.modifier_count != 1) return std::nullopt;
  const Modifier question = form.modifiers[0];
  if (question < Modifier::finite || question > Modifier::subnormal) return std::nullopt;
  const Flags flags{static_cast<std::int32_t>(question)};
  if (form.type() == Type::f64) return lanewise<test_property<double>>(Pipe::fp64, kSimple, flags);
  return lanewise<test_property<float>>(Pipe::fp32, kSimple, flags);
}

}  // namespace

std::optional<Binding> bind_float(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form) return std::nullopt;
  if (form->type_count == 2) return bind_mixed_float(*form);
  if (form->type_count != 1) return std::nullopt;
  if (form->type() == Type::f32x2) return bind_float_pairs(*form);
  if (form->type() != Type::f32 && form->type() != Type::f64) return std::nullopt;
  const bool is_extreme = form->opcode == Opcode::min || form->opcode == Opcode::max;
  if (is_extreme && instruction.operands.size() == 4) return bind_extreme_of_three(*form);
  switch (form->opcode) {
    case Opcode::testp:
      return bind_testp(*form);
    case Opcode::div:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::ex2:
    case Opcode::lg2:
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::tanh:
      return bind_special(*form);
    default:
      return form->type() == Type::f64 ? bind_double(*form) : bind_f32(*form);
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
