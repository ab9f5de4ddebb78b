// f16 and bf16 arithmetic, one number or two in a register.
#include "sim/approx.hpp"
#include "sim/float_flags.hpp"
#include "sim/half.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

CUDAOPT_INLINE std::uint16_t flush_half_if(Flags flags, std::uint16_t half) {
  const bool subnormal = (half & F16::kInfinity) == 0;  // only f16 has .ftz
  return flags.has(kFtz) && subnormal ? static_cast<std::uint16_t>(half & 0x8000) : half;
}

CUDAOPT_INLINE std::uint16_t finished_relu(Flags flags, std::uint16_t half) {
  return flags.has(kRelu) ? relu_half(half) : half;
}

template <class Half>
CUDAOPT_INLINE std::uint16_t finished_half(Flags flags, std::uint16_t half) {
  const std::uint16_t flushed = flush_half_if(flags, half);
  return finished_relu(flags, flags.has(kSat) ? saturate_half<Half>(flushed) : flushed);
}

template <class Half>
CUDAOPT_INLINE float value_of(Flags flags, std::uint16_t half) {
  return Half::decode(flush_half_if(flags, half));
}

// A float holds twice the digits of a half and two more, so rounding a sum twice changes nothing.
struct Add {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a, std::uint16_t b) {
    const float sum = value_of<Half>(flags, a) + value_of<Half>(flags, b);
    return finished_half<Half>(flags, Half::encode(sum));
  }
};

struct Subtract {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a, std::uint16_t b) {
    const float difference = value_of<Half>(flags, a) - value_of<Half>(flags, b);
    return finished_half<Half>(flags, Half::encode(difference));
  }
};

struct Multiply {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a, std::uint16_t b) {
    const auto product = Half::product(value_of<Half>(flags, a), value_of<Half>(flags, b));
    return finished_half<Half>(flags, Half::encode(product));
  }
};

struct FusedMultiplyAdd {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a, std::uint16_t b,
                                            std::uint16_t c) {
    const std::uint16_t result =
        Half::fma(value_of<Half>(flags, a), value_of<Half>(flags, b), value_of<Half>(flags, c));
    return finished_half<Half>(flags, result);
  }
};

template <bool kMaximum>
struct Extreme {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a, std::uint16_t b) {
    const float result =
        extreme_with<kMaximum>(flags, value_of<Half>(flags, a), value_of<Half>(flags, b));
    return finished_relu(flags, Half::encode(result));
  }
};

struct Negate {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a) {
    const auto negated = static_cast<std::uint16_t>(flush_half_if(flags, a) ^ 0x8000);
    return is_nan<Half>(a) ? kNanHalf : negated;
  }
};

struct Absolute {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a) {
    const auto size = static_cast<std::uint16_t>(flush_half_if(flags, a) & 0x7fff);
    return is_nan<Half>(a) ? kNanHalf : size;
  }
};

// The only form for bf16 is .ftz.
struct Exponential {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags flags, std::uint16_t a) {
    const float result = approx::ex2(value_of<Half>(flags, a));
    if constexpr (std::is_same_v<Half, Bf16>) return Half::encode(flush(result));
    return flush_half_if(flags, Half::encode(result));
  }
};

struct HyperbolicTangent {
  template <class Half>
  CUDAOPT_INLINE static std::uint16_t apply(Flags, std::uint16_t a) {
    return Half::encode(approx::tanh(Half::decode(a)));
  }
};

template <class Operation, class Half>
CUDAOPT_INLINE std::uint32_t pair_unary(Flags flags, std::uint32_t a) {
  return pair_of(Operation::template apply<Half>(flags, low_half(a)),
                 Operation::template apply<Half>(flags, high_half(a)));
}

template <class Operation, class Half>
CUDAOPT_INLINE std::uint32_t pair_binary(Flags flags, std::uint32_t a, std::uint32_t b) {
  return pair_of(Operation::template apply<Half>(flags, low_half(a), low_half(b)),
                 Operation::template apply<Half>(flags, high_half(a), high_half(b)));
}

template <class Operation, class Half>
CUDAOPT_INLINE std::uint32_t pair_ternary(Flags flags, std::uint32_t a, std::uint32_t b,
                                          std::uint32_t c) {
  return pair_of(Operation::template apply<Half>(flags, low_half(a), low_half(b), low_half(c)),
                 Operation::template apply<Half>(flags, high_half(a), high_half(b), high_half(c)));
}

constexpr std::uint16_t kSimple = 5, kEstimate = 18;

template <class Operation>
std::optional<Binding> bind_unary(Type type, Flags flags, Pipe pipe, std::uint16_t latency) {
  switch (type) {
    case Type::f16:
      return lanewise<Operation::template apply<F16>>(pipe, latency, flags);
    case Type::bf16:
      return lanewise<Operation::template apply<Bf16>>(pipe, latency, flags);
    case Type::f16x2:
      return lanewise<pair_unary<Operation, F16>>(pipe, latency, flags);
    case Type::bf16x2:
      return lanewise<pair_unary<Operation, Bf16>>(pipe, latency, flags);
    default:
      return std::nullopt;
  }
}

template <class Operation>
std::optional<Binding> bind_binary(Type type, Flags flags) {
  switch (type) {
    case Type::f16:
      return lanewise<Operation::template apply<F16>>(Pipe::half, kSimple, flags);
    case Type::bf16:
      return lanewise<Operation::template apply<Bf16>>(Pipe::half, kSimple, flags);
    case Type::f16x2:
      return lanewise<pair_binary<Operation, F16>>(Pipe::half, kSimple, flags);
    case Type::bf16x2:
      return lanewise<pair_binary<Operation, Bf16>>(Pipe::half, kSimple, flags);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_fma(Type type, Flags flags) {
  using Operation = FusedMultiplyAdd;
  switch (type) {
    case Type::f16:
      return lanewise<Operation::apply<F16>>(Pipe::half, kSimple, flags);
    case Type::bf16:
      return lanewise<Operation::apply<Bf16>>(Pipe::half, kSimple, flags);
    case Type::f16x2:
      return lanewise<pair_ternary<Operation, F16>>(Pipe::half, kSimple, flags);
    case Type::bf16x2:
      return lanewise<pair_ternary<Operation, Bf16>>(Pipe::half, kSimple, flags);
    default:
      return std::nullopt;
  }
}

bool is_f16(Type type) { return type == Type::f16 || type == Type::f16x2; }

bool modifiers_known(const Form& form) {
  using M = Modifier;
  switch (form.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
      return form.only({M::ftz, M::sat});
    case Opcode::fma:
      return form.only({M::ftz, M::sat, M::relu});
    case Opcode::min:
    case Opcode::max:
      return form.only({M::ftz, M::nan_result, M::xorsign, M::abs});
    case Opcode::neg:
    case Opcode::abs:
      return form.only({M::ftz});
    case Opcode::ex2:
      return form.has(M::approx) && form.only({M::approx, M::ftz});
    case Opcode::tanh:
      return form.has(M::approx) && form.only({M::approx});
    default:
      return false;
  }
}

}  // namespace

std::optional<Binding> bind_half(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form || form->type_count != 1 || !modifiers_known(*form)) return std::nullopt;
  if (form->rounding != Rounding::none && form->rounding != Rounding::rn) return std::nullopt;
  const Type type = form->type();
  Flags flags = float_flags(*form);
  if (!is_f16(type)) flags.bits &= ~kFtz;
  switch (form->opcode) {
    case Opcode::add:
      return bind_binary<Add>(type, flags);
    case Opcode::sub:
      return bind_binary<Subtract>(type, flags);
    case Opcode::mul:
      return bind_binary<Multiply>(type, flags);
    case Opcode::fma:
      return bind_fma(type, flags);
    case Opcode::min:
      return bind_binary<Extreme<false>>(type, flags);
    case Opcode::max:
      return bind_binary<Extreme<true>>(type, flags);
    case Opcode::neg:
      return bind_unary<Negate>(type, flags, Pipe::half, kSimple);
    case Opcode::abs:
      return bind_unary<Absolute>(type, flags, Pipe::half, kSimple);
    case Opcode::ex2:
      return bind_unary<Exponential>(type, flags, Pipe::special, kEstimate);
    case Opcode::tanh:
      return bind_unary<HyperbolicTangent>(type, flags, Pipe::special, kEstimate);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
