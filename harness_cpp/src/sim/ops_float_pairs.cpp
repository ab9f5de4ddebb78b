// f32x2: sums, products and fused products of two floats that share a 64-bit register.
#include "sim/f32_arithmetic.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

CUDAOPT_INLINE float low(std::uint64_t pair) {
  return bits_as<float>(static_cast<std::uint32_t>(pair));
}
CUDAOPT_INLINE float high(std::uint64_t pair) {
  return bits_as<float>(static_cast<std::uint32_t>(pair >> 32));
}

template <class Operation, Rounding kMode, class... Pairs>
CUDAOPT_INLINE std::uint64_t on_both(Flags flags, Pairs... x) {
  const float lower = f32::applied<Operation, kMode>(flags, low(x)...);
  const float upper = f32::applied<Operation, kMode>(flags, high(x)...);
  return bits_as<std::uint32_t>(lower) | std::uint64_t{bits_as<std::uint32_t>(upper)} << 32;
}

constexpr std::uint16_t kLatency = 4;

template <class Operation, class... Pairs>
Binding bind_rounded(const Form& form) {
  const Flags flags = float_flags(form);
  switch (form.rounding) {
    case Rounding::rz:
      return lanewise<on_both<Operation, Rounding::rz, Pairs...>>(Pipe::fp32, kLatency, flags);
    case Rounding::rm:
      return lanewise<on_both<Operation, Rounding::rm, Pairs...>>(Pipe::fp32, kLatency, flags);
    case Rounding::rp:
      return lanewise<on_both<Operation, Rounding::rp, Pairs...>>(Pipe::fp32, kLatency, flags);
    default:
      return lanewise<on_both<Operation, Rounding::rn, Pairs...>>(Pipe::fp32, kLatency, flags);
  }
}

}  // namespace

std::optional<Binding> bind_float_pairs(const Form& form) {
  using Pair = std::uint64_t;
  if (!form.only({Modifier::ftz})) return std::nullopt;
  switch (form.opcode) {
    case Opcode::add:
      return bind_rounded<f32::Add, Pair, Pair>(form);
    case Opcode::sub:
      return bind_rounded<f32::Subtract, Pair, Pair>(form);
    case Opcode::mul:
      return bind_rounded<f32::Multiply, Pair, Pair>(form);
    case Opcode::fma:
      return bind_rounded<f32::FusedMultiplyAdd, Pair, Pair, Pair>(form);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
