// Sums and fused products of f32 with operands of 16 bits, which are widened first: add.f32.f16 …
#include "sim/f32_arithmetic.hpp"
#include "sim/families.hpp"
#include "sim/half.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// d = a + c and d = a - c, with a of 16 bits.
template <class Operation, class Half, Rounding kMode>
CUDAOPT_INLINE float with_half(Flags flags, std::uint32_t a, float c) {
  return f32::applied<Operation, kMode>(flags, Half::decode(a), c);
}

// d = a * b + c, with a and b of 16 bits.
template <class Operation, class Half, Rounding kMode>
CUDAOPT_INLINE float with_halves(Flags flags, std::uint32_t a, std::uint32_t b, float c) {
  return f32::applied<Operation, kMode>(flags, Half::decode(a), Half::decode(b), c);
}

constexpr std::uint16_t kLatency = 4;

template <class Operation, class Half, Rounding kMode>
Binding bind_rounded(const Form& form) {
  const Flags flags = float_flags(form);
  if constexpr (std::is_same_v<Operation, f32::FusedMultiplyAdd>) {
    return lanewise<with_halves<Operation, Half, kMode>>(Pipe::fp32, kLatency, flags);
  } else {
    return lanewise<with_half<Operation, Half, kMode>>(Pipe::fp32, kLatency, flags);
  }
}

template <class Operation, class Half>
Binding bind_half_type(const Form& form) {
  switch (form.rounding) {
    case Rounding::rz:
      return bind_rounded<Operation, Half, Rounding::rz>(form);
    case Rounding::rm:
      return bind_rounded<Operation, Half, Rounding::rm>(form);
    case Rounding::rp:
      return bind_rounded<Operation, Half, Rounding::rp>(form);
    default:
      return bind_rounded<Operation, Half, Rounding::rn>(form);
  }
}

template <class Operation>
std::optional<Binding> bind_operation(const Form& form) {
  if (form.types[1] == Type::f16) return bind_half_type<Operation, F16>(form);
  if (form.types[1] == Type::bf16) return bind_half_type<Operation, Bf16>(form);
  return std::nullopt;
}

}  // namespace

std::optional<Binding> bind_mixed_float(const Form& form) {
  if (form.types[0] != Type::f32 || !form.only({Modifier::sat})) return std::nullopt;
  switch (form.opcode) {
    case Opcode::add:
      return bind_operation<f32::Add>(form);
    case Opcode::sub:
      return bind_operation<f32::Subtract>(form);
    case Opcode::fma:
      return bind_operation<f32::FusedMultiplyAdd>(form);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
