// f32 arithmetic: sums, products, extremes, signs, questions about a number.
#include "sim/families.hpp"
#include "sim/float_flags.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// Each operation gives its result to nearest, the exact result as a sticky double, and the sign an
// exact zero has when rounding down (a sum is then -0 unless both terms are +0). Those whose
// results may round up to the smallest normal number also give the result times 2^24. Sums never
// do: their subnormal results are exact.
struct Add {
  static constexpr bool kRoundsTinyResults = false;
  CUDAOPT_INLINE static float nearest(float a, float b) { return a + b; }
  CUDAOPT_INLINE static double sticky(float a, float b) { return sticky_sum(a, b); }
  CUDAOPT_INLINE static bool negative_zero(float a, float b) { return sign_bit(a) | sign_bit(b); }
};

struct Subtract {
  static constexpr bool kRoundsTinyResults = false;
  CUDAOPT_INLINE static float nearest(float a, float b) { return a - b; }
  CUDAOPT_INLINE static double sticky(float a, float b) { return sticky_sum(a, -b); }
  CUDAOPT_INLINE static bool negative_zero(float a, float b) { return sign_bit(a) | !sign_bit(b); }
};

struct Multiply {
  static constexpr bool kRoundsTinyResults = true;
  CUDAOPT_INLINE static float nearest(float a, float b) { return a * b; }
  CUDAOPT_INLINE static float scaled(float a, float b) { return (a * 0x1p12f) * (b * 0x1p12f); }
  CUDAOPT_INLINE static double sticky(float a, float b) { return static_cast<double>(a) * b; }
  CUDAOPT_INLINE static bool negative_zero(float a, float b) { return sign_bit(a) != sign_bit(b); }
};

struct FusedMultiplyAdd {
  static constexpr bool kRoundsTinyResults = true;
  CUDAOPT_INLINE static float nearest(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  CUDAOPT_INLINE static float scaled(float a, float b, float c) {
    return __builtin_fmaf(a * 0x1p12f, b * 0x1p12f, c * 0x1p24f);
  }
  CUDAOPT_INLINE static double sticky(float a, float b, float c) { return sticky_fma(a, b, c); }
  CUDAOPT_INLINE static bool negative_zero(float a, float b, float c) {
    return (sign_bit(a) != sign_bit(b)) | sign_bit(c);
  }
};

template <class Operation, class... Floats>
CUDAOPT_INLINE float plain(Floats... x) {
  return canonical(Operation::nearest(x...));
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float from_flushed(Floats... x) {
  const float result = canonical(Operation::nearest(x...));
  if constexpr (Operation::kRoundsTinyResults) return flush_tiny(result, Operation::scaled(x...));
  return flush(result);
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float flushed(Floats... x) {
  return from_flushed<Operation>(flush(x)...);
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float with_flags(Flags flags, Floats... x) {
  const float result = flags.has(kFtz) ? flushed<Operation>(x...) : plain<Operation>(x...);
  return flags.has(kSat) ? saturate(result) : result;
}

template <class Operation, Rounding kMode, class... Floats>
CUDAOPT_INLINE float rounded_from_flushed(Flags flags, Floats... x) {
  const double exact = Operation::sticky(x...);
  float result = round_to_f32<kMode>(exact);
  if constexpr (kMode == Rounding::rm) {
    const float zero = Operation::negative_zero(x...) ? -0.0f : 0.0f;
    result = exact == 0.0 ? zero : result;
  }
  return finished(flags, result, round_to_f32<kMode>(exact * 0x1p24));
}

template <class Operation, Rounding kMode, class... Floats>
CUDAOPT_INLINE float rounded(Flags flags, Floats... x) {
  return rounded_from_flushed<Operation, kMode>(flags, flush_if(flags, x)...);
}

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
      return lanewise<rounded<Operation, Rounding::rz, Floats...>>(Pipe::fp32, kSimple, flags);
    case Rounding::rm:
      return lanewise<rounded<Operation, Rounding::rm, Floats...>>(Pipe::fp32, kSimple, flags);
    case Rounding::rp:
      return lanewise<rounded<Operation, Rounding::rp, Floats...>>(Pipe::fp32, kSimple, flags);
    default:
      break;
  }
  if (flags.bits == 0) return lanewise<plain<Operation, Floats...>>(Pipe::fp32, kSimple);
  if (flags.bits == kFtz) return lanewise<flushed<Operation, Floats...>>(Pipe::fp32, kSimple);
  return lanewise<with_flags<Operation, Floats...>>(Pipe::fp32, kSimple, flags);
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
      break;
    default:
      if (!form.only({M::ftz})) return std::nullopt;
  }
  switch (form.opcode) {
    case Opcode::add:
      return bind_rounded<Add, float, float>(form);
    case Opcode::sub:
      return bind_rounded<Subtract, float, float>(form);
    case Opcode::mul:
      return bind_rounded<Multiply, float, float>(form);
    case Opcode::fma:
    case Opcode::mad:
      return bind_rounded<FusedMultiplyAdd, float, float, float>(form);
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
  if (!form || form->type_count != 1) return std::nullopt;
  if (form->type() != Type::f32 && form->type() != Type::f64) return std::nullopt;
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
