// cvt to and from pairs of 8-bit floats: e4m3x2 and e5m2x2.
#include "sim/conversion.hpp"
#include "sim/fp8.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

CUDAOPT_INLINE std::uint32_t pair_of_eights(Flags relu, std::uint32_t low, std::uint32_t high) {
  return relu.bits != 0 ? relu_fp8(low) | relu_fp8(high) << 8 : low | high << 8;
}

template <class Eight>
CUDAOPT_INLINE std::uint32_t of_floats(Flags relu, float upper, float lower) {
  return pair_of_eights(relu, Eight::encode(lower), Eight::encode(upper));
}
template <class Eight>
CUDAOPT_INLINE std::uint32_t of_halves(Flags relu, std::uint32_t pair) {
  return of_floats<Eight>(relu, F16::decode(high_half(pair)), F16::decode(low_half(pair)));
}
template <class Eight>
CUDAOPT_INLINE std::uint32_t to_halves(Flags relu, std::uint32_t pair) {
  const std::uint32_t low = Eight::to_f16(pair), high = Eight::to_f16(pair >> 8);
  return relu.bits != 0 ? pair_of(relu_half(low), relu_half(high)) : pair_of(low, high);
}

template <class Eight>
std::optional<Binding> bind_to(Type from, Flags relu) {
  if (from == Type::f32) return lanewise<of_floats<Eight>>(Pipe::half, kConversion, relu);
  if (from == Type::f16x2) return lanewise<of_halves<Eight>>(Pipe::half, kConversion, relu);
  return std::nullopt;
}

}  // namespace

bool is_fp8_pair(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }

std::optional<Binding> bind_fp8_conversion(const Form& form) {
  const Type to = form.types[0], from = form.types[1];
  const Flags relu{form.has(Modifier::relu)};
  if (form.rounding != Rounding::rn) return std::nullopt;
  if (is_fp8_pair(to)) {
    const bool known =
        form.has(Modifier::satfinite) && form.only({Modifier::satfinite, Modifier::relu});
    if (!known) return std::nullopt;
    return to == Type::e4m3x2 ? bind_to<E4m3>(from, relu) : bind_to<E5m2>(from, relu);
  }
  if (to != Type::f16x2 || !form.only({Modifier::relu})) return std::nullopt;
  return from == Type::e4m3x2 ? lanewise<to_halves<E4m3>>(Pipe::half, kConversion, relu)
                              : lanewise<to_halves<E5m2>>(Pipe::half, kConversion, relu);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
