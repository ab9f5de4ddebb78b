// f16 and bf16 arithmetic, one number or two in a register.
#include "sim/approx.hpp"
#include "sim/float_flags.hpp"
#include "sim/half.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

CUDAOPT_INLINE std::uint32_t flush_half_if(Flags flags, std::uint32_t half) {
  const bool subnormal = (half & F16::kInfinity) == 0;  // only f16 has .ftz
  return flags.has(kFtz) && subnormal ? half & 0x8000 : half;
}

CUDAOPT_INLINE std::uint32_t finished_relu(Flags flags, std::uint32_t half) {
  return flags.has(kRelu) ? relu_half(half) : half;
}

// Rounds the wider result and applies the modifiers.
template <class Half, class Wide>
CUDAOPT_INLINE std::uint32_t finished_half(Flags flags, Wide wide) {
  std::uint32_t half = Half::encode(wide);
  if constexpr (std::is_same_v<Half, F16>) {
    const bool flushes = flags.has(kFtz) && F16::is_tiny(wide);
    half = flushes ? half & 0x8000 : half;
  }
  return finished_relu(flags, flags.has(kSat) ? saturate_half<Half>(half) : half);
}

template <class Half>
CUDAOPT_INLINE float value_of(Flags flags, std::uint32_t half) {
  return Half::decode(flush_half_if(flags, half));
}

// A float holds twice the digits of a half and two more, so rounding a sum twice changes nothing.
struct Add {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a, std::uint32_t b) {
    return finished_half<Half>(flags, value_of<Half>(flags, a) + value_of<Half>(flags, b));
  }
};

struct Subtract {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a, std::uint32_t b) {
    return finished_half<Half>(flags, value_of<Half>(flags, a) - value_of<Half>(flags, b));
  }
};

struct Multiply {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a, std::uint32_t b) {
    const auto product = Half::product(value_of<Half>(flags, a), value_of<Half>(flags, b));
    return finished_half<Half>(flags, product);
  }
};

struct FusedMultiplyAdd {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a, std::uint32_t b,
                                            std::uint32_t c) {
    const auto result =
        Half::fused(value_of<Half>(flags, a), value_of<Half>(flags, b), value_of<Half>(flags, c));
    return finished_half<Half>(flags, result);
  }
};

template <bool kMaximum>
struct Extreme {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a, std::uint32_t b) {
    // Decoding loses the sign of NaN, which .xorsign still counts.
    const bool xorsign = flags.has(kXorSign);
    const std::uint32_t kept = xorsign ? 0x7fff : 0xffff;
    const Flags others{flags.bits & ~kXorSign};
    const float chosen = extreme_with<kMaximum>(others, value_of<Half>(flags, a & kept),
                                                value_of<Half>(flags, b & kept));
    const std::uint32_t half = Half::encode(chosen);
    const std::uint32_t sign = xorsign ? (a ^ b) & 0x8000 : 0;
    return is_nan<Half>(half) ? kNanHalf : half | sign;
  }
};

struct Negate {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a) {
    const std::uint32_t negated = (flush_half_if(flags, a) ^ 0x8000) & 0xffff;
    return is_nan<Half>(a) ? kNanHalf : negated;
  }
};

struct Absolute {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a) {
    const std::uint32_t size = flush_half_if(flags, a) & 0x7fff;
    return is_nan<Half>(a) ? kNanHalf : size;
  }
};

// The only form for bf16 is .ftz.
struct Exponential {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags flags, std::uint32_t a) {
    const float result = approx::ex2(value_of<Half>(flags, a));
    if constexpr (std::is_same_v<Half, Bf16>) return Half::encode(flush(result));
    return flush_half_if(flags, Half::encode(result));
  }
};

struct HyperbolicTangent {
  template <class Half>
  CUDAOPT_INLINE static std::uint32_t apply(Flags, std::uint32_t a) {
    return Half::encode(approx::tanh(Half::decode(a)));
  }
};

template <class Operation, class Half, class... Words>
CUDAOPT_INLINE std::uint32_t single(Flags flags, Words... x) {
  return Operation::template apply<Half>(flags, x...);
}

template <class Operation, class Half, class... Words>
CUDAOPT_INLINE std::uint32_t pair(Flags flags, Words... x) {
  return pair_of(Operation::template apply<Half>(flags, low_half(x)...),
                 Operation::template apply<Half>(flags, high_half(x)...));
}

template <class Operation, class Half, class... Words>
CUDAOPT_INLINE std::uint32_t plain_single(Words... x) {
  return single<Operation, Half>(Flags{}, x...);
}

template <class Operation, class Half, class... Words>
CUDAOPT_INLINE std::uint32_t plain_pair(Words... x) {
  return pair<Operation, Half>(Flags{}, x...);
}

constexpr std::uint16_t kSimple = 5, kEstimate = 18;

struct Issue {
  Pipe pipe = Pipe::half;
  std::uint16_t latency = kSimple;
};

// Modifiers are rare enough for one lane at a time.
template <class Operation, class Half, class... Words>
Binding bind_single(Flags flags, Issue issue) {
  if (flags.bits == 0)
    return lanewise<plain_single<Operation, Half, Words...>>(issue.pipe, issue.latency);
  return lane_by_lane<single<Operation, Half, Words...>>(issue.pipe, issue.latency, flags);
}

template <class Operation, class Half, class... Words>
Binding bind_pair(Flags flags, Issue issue) {
  if (flags.bits == 0)
    return lanewise<plain_pair<Operation, Half, Words...>>(issue.pipe, issue.latency);
  return lane_by_lane<pair<Operation, Half, Words...>>(issue.pipe, issue.latency, flags);
}

template <class Operation, class... Words>
std::optional<Binding> bind_words(Type type, Flags flags, Issue issue) {
  switch (type) {
    case Type::f16:
      return bind_single<Operation, F16, Words...>(flags, issue);
    case Type::bf16:
      return bind_single<Operation, Bf16, Words...>(flags, issue);
    case Type::f16x2:
      return bind_pair<Operation, F16, Words...>(flags, issue);
    case Type::bf16x2:
      return bind_pair<Operation, Bf16, Words...>(flags, issue);
    default:
      return std::nullopt;
  }
}

template <class Operation>
std::optional<Binding> bind_unary(Type type, Flags flags, Issue issue = {}) {
  return bind_words<Operation, std::uint32_t>(type, flags, issue);
}
template <class Operation>
std::optional<Binding> bind_binary(Type type, Flags flags) {
  return bind_words<Operation, std::uint32_t, std::uint32_t>(type, flags, {});
}
template <class Operation>
std::optional<Binding> bind_ternary(Type type, Flags flags) {
  return bind_words<Operation, std::uint32_t, std::uint32_t, std::uint32_t>(type, flags, {});
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
      return bind_ternary<FusedMultiplyAdd>(type, flags);
    case Opcode::min:
      return bind_binary<Extreme<false>>(type, flags);
    case Opcode::max:
      return bind_binary<Extreme<true>>(type, flags);
    case Opcode::neg:
      return bind_unary<Negate>(type, flags);
    case Opcode::abs:
      return bind_unary<Absolute>(type, flags);
    case Opcode::ex2:
      return bind_unary<Exponential>(type, flags, {Pipe::special, kEstimate});
    case Opcode::tanh:
      return bind_unary<HyperbolicTangent>(type, flags, {Pipe::special, kEstimate});
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
