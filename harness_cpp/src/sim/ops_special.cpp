// Quotients, roots and transcendental functions of f32 and f64.
#include "sim/approx.hpp"
#include "sim/directed.hpp"
#include "sim/families.hpp"
#include "sim/float_flags.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// Quotients and roots of floats, rounded once more than a float: the remainder's sign is what the
// double misses. `scaled` is the result to nearest times 2^24, `nan` what an f64 result keeps.
struct Divide {
  CUDAOPT_INLINE static float nearest(float a, float b) { return a / b; }
  CUDAOPT_INLINE static double nearest(double a, double b) { return a / b; }
  CUDAOPT_INLINE static float scaled(float a, float b) { return a * 0x1p24f / b; }
  CUDAOPT_INLINE static double nan(double a, double b) { return first_nan(a, b); }
  CUDAOPT_INLINE static double sticky_of(float a, float b) {
    const double quotient = static_cast<double>(a) / b;
    const double remainder = __builtin_fma(-quotient, b, a);
    return sticky(quotient, sign_bit(b) ? -remainder : remainder);
  }
};

struct Reciprocal {
  CUDAOPT_INLINE static float nearest(float x) { return 1.0f / x; }
  CUDAOPT_INLINE static double nearest(double x) { return 1.0 / x; }
  CUDAOPT_INLINE static float scaled(float x) { return 0x1p24f / x; }
  CUDAOPT_INLINE static double nan(double x) { return first_nan(x); }
  CUDAOPT_INLINE static double sticky_of(float x) { return Divide::sticky_of(1.0f, x); }
};

struct SquareRoot {
  CUDAOPT_INLINE static float nearest(float x) { return __builtin_sqrtf(x); }
  CUDAOPT_INLINE static double nearest(double x) { return __builtin_sqrt(x); }
  CUDAOPT_INLINE static float scaled(float x) { return __builtin_sqrtf(x) * 0x1p24f; }
  CUDAOPT_INLINE static double nan(double x) { return first_nan(x); }
  CUDAOPT_INLINE static double sticky_of(float x) {
    const double root = __builtin_sqrt(static_cast<double>(x));
    return sticky(root, __builtin_fma(-root, root, x));
  }
};

template <class Operation, class... Floats>
CUDAOPT_INLINE float from_flushed(Flags flags, Floats... x) {
  return finished(flags, Operation::nearest(x...), Operation::scaled(x...));
}

template <class Operation, class... Floats>
CUDAOPT_INLINE float with_flags(Flags flags, Floats... x) {
  return from_flushed<Operation>(flags, flush_if(flags, x)...);
}

template <class Operation, Rounding kMode, class... Floats>
CUDAOPT_INLINE float rounded(Flags flags, Floats... x) {
  const double exact = Operation::sticky_of(flush_if(flags, x)...);
  return finished(flags, round_to_f32<kMode>(exact), round_to_f32<kMode>(exact * 0x1p24));
}

template <class Operation, class... Doubles>
CUDAOPT_INLINE double plain(Doubles... x) {
  const double result = Operation::nearest(x...);
  return result != result ? Operation::nan(x...) : result;
}

// a * (1/b), whose reciprocal vanishes for the largest b: PTX documents zeros and NaN there.
CUDAOPT_INLINE float approximate_quotient(float a, float b) {
  const float size = magnitude(b);
  const bool vanishes = (size > 8.507059e37f) & (size < bits_as<float>(0x7f800000u));
  return vanishes ? a * with_sign_of(0.0f, b) : a / b;
}

CUDAOPT_INLINE float div_approx(Flags flags, float a, float b) {
  return flush_if(flags, canonical(approximate_quotient(flush_if(flags, a), flush_if(flags, b))));
}

CUDAOPT_INLINE float rsqrt_approx(Flags flags, float x) {
  const double root = __builtin_sqrt(static_cast<double>(flush_if(flags, x)));
  return canonical(static_cast<float>(1.0 / root));  // never subnormal
}

// The approximate f64 forms keep only the upper half of the result, as the hardware does.
CUDAOPT_INLINE double upper_half(double x) {
  return bits_as<double>(bits_as<std::uint64_t>(x) & 0xffffffff00000000u);
}
CUDAOPT_INLINE double flush_double(double x) {
  return magnitude(x) < 2.2250738585072014e-308 ? with_sign_of(0.0, x) : x;
}
CUDAOPT_INLINE double rcp_approx_f64(double x) {
  return keeping_nan(flush_double(upper_half(1.0 / flush_double(x))), x);
}
CUDAOPT_INLINE double rsqrt_approx_ftz_f64(double x) {
  return keeping_nan(upper_half(1.0 / __builtin_sqrt(flush_double(x))), x);
}
CUDAOPT_INLINE double rsqrt_approx_f64(double x) { return keeping_nan(1.0 / __builtin_sqrt(x), x); }

template <float (*Function)(float)>
CUDAOPT_INLINE float transcendental(Flags flags, float x) {
  return flush_if(flags, Function(flush_if(flags, x)));
}

CUDAOPT_INLINE float ex2(Flags flags, float x) { return transcendental<approx::ex2>(flags, x); }
CUDAOPT_INLINE float lg2(Flags flags, float x) { return transcendental<approx::lg2>(flags, x); }
CUDAOPT_INLINE float sin(Flags flags, float x) { return transcendental<approx::sin>(flags, x); }
CUDAOPT_INLINE float cos(Flags flags, float x) { return transcendental<approx::cos>(flags, x); }
CUDAOPT_INLINE float tanh(Flags flags, float x) { return transcendental<approx::tanh>(flags, x); }

// Correctly rounded quotients and roots are sequences around the special unit's estimate.
constexpr std::uint16_t kEstimate = 18, kSequence = 45, kDoubleSequence = 150;

template <class Operation, class... Floats>
std::optional<Binding> bind_f32_rounded(const Form& form) {
  const Flags flags = float_flags(form);
  switch (form.rounding) {
    case Rounding::rn:
      return lanewise<with_flags<Operation, Floats...>>(Pipe::fp32, kSequence, flags);
    case Rounding::rz:
      return lanewise<rounded<Operation, Rounding::rz, Floats...>>(Pipe::fp32, kSequence, flags);
    case Rounding::rm:
      return lanewise<rounded<Operation, Rounding::rm, Floats...>>(Pipe::fp32, kSequence, flags);
    case Rounding::rp:
      return lanewise<rounded<Operation, Rounding::rp, Floats...>>(Pipe::fp32, kSequence, flags);
    default:
      return std::nullopt;
  }
}

template <class Operation>
Binding estimate(const Form& form) {
  return lanewise<with_flags<Operation, float>>(Pipe::special, kEstimate, float_flags(form));
}

std::optional<Binding> bind_f32_division(const Form& form) {
  if (form.has(Modifier::approx))
    return lanewise<div_approx>(Pipe::special, kEstimate, float_flags(form));
  if (form.has(Modifier::full))
    return lanewise<with_flags<Divide, float, float>>(Pipe::special, kEstimate, float_flags(form));
  return bind_f32_rounded<Divide, float, float>(form);
}

std::optional<Binding> bind_f32(const Form& form) {
  const bool approximate = form.has(Modifier::approx);
  const Flags flags = float_flags(form);
  switch (form.opcode) {
    case Opcode::div:
      return bind_f32_division(form);
    case Opcode::rcp:
      return approximate ? estimate<Reciprocal>(form) : bind_f32_rounded<Reciprocal, float>(form);
    case Opcode::sqrt:
      return approximate ? estimate<SquareRoot>(form) : bind_f32_rounded<SquareRoot, float>(form);
    default:
      break;
  }
  if (!approximate) return std::nullopt;
  switch (form.opcode) {
    case Opcode::rsqrt:
      return lanewise<rsqrt_approx>(Pipe::special, kEstimate, flags);
    case Opcode::ex2:
      return lanewise<ex2>(Pipe::special, kEstimate, flags);
    case Opcode::lg2:
      return lanewise<lg2>(Pipe::special, kEstimate, flags);
    case Opcode::sin:
      return lanewise<sin>(Pipe::special, kEstimate, flags);
    case Opcode::cos:
      return lanewise<cos>(Pipe::special, kEstimate, flags);
    case Opcode::tanh:
      return lanewise<tanh>(Pipe::special, kEstimate, flags);
    default:
      return std::nullopt;
  }
}

template <class Operation, class... Doubles>
std::optional<Binding> bind_f64_rounded(Rounding rounding) {
  if (rounding == Rounding::none) return std::nullopt;
  if (rounding == Rounding::rn)
    return lanewise<plain<Operation, Doubles...>>(Pipe::fp64, kDoubleSequence);
  return lane_by_lane<directed<Operation, Doubles...>>(Pipe::fp64, kDoubleSequence,
                                                       direction_flags(rounding));
}

std::optional<Binding> bind_f64(const Form& form) {
  const bool approximate = form.has(Modifier::approx), ftz = form.has(Modifier::ftz);
  if (approximate && form.opcode == Opcode::rcp && ftz)
    return lanewise<rcp_approx_f64>(Pipe::special, kEstimate);
  if (approximate && form.opcode == Opcode::rsqrt)
    return ftz ? lanewise<rsqrt_approx_ftz_f64>(Pipe::special, kEstimate)
               : lanewise<rsqrt_approx_f64>(Pipe::fp64, kDoubleSequence);
  if (approximate || ftz) return std::nullopt;
  switch (form.opcode) {
    case Opcode::div:
      return bind_f64_rounded<Divide, double, double>(form.rounding);
    case Opcode::rcp:
      return bind_f64_rounded<Reciprocal, double>(form.rounding);
    case Opcode::sqrt:
      return bind_f64_rounded<SquareRoot, double>(form.rounding);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Binding> bind_special(const Form& form) {
  if (!form.only({Modifier::ftz, Modifier::approx, Modifier::full})) return std::nullopt;
  return form.type() == Type::f64 ? bind_f64(form) : bind_f32(form);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
