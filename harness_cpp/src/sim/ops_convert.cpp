// cvt: reads what a conversion asks for and picks its handler. The frequent pairs have their own
// here.
#include "sim/conversion.hpp"
#include "sim/convert.hpp"
#include "sim/families.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

template <class To, class From>
CUDAOPT_INLINE To resize(From x) {
  return static_cast<To>(x);
}

CUDAOPT_INLINE float f32_of_s32(std::int32_t x) { return static_cast<float>(x); }
CUDAOPT_INLINE float f32_of_u32(std::uint32_t x) { return static_cast<float>(double_of(x)); }
CUDAOPT_INLINE double f64_of_s32(std::int32_t x) { return static_cast<double>(x); }
CUDAOPT_INLINE double f64_of_u32(std::uint32_t x) { return double_of(x); }
// Between these two, the hardware keeps what fits of a NaN and makes it quiet, as the processor
// does.
CUDAOPT_INLINE double f64_of_f32(float x) { return static_cast<double>(x); }
CUDAOPT_INLINE float f32_of_f64(double x) { return static_cast<float>(x); }
// No arithmetic: NaNs pass as they are.
CUDAOPT_INLINE std::uint32_t f32_of_bf16(std::uint32_t x) { return x << 16; }

// NaN and infinity only lose their low bits.
CUDAOPT_INLINE std::uint32_t tf32_rna(std::uint32_t x) {
  const bool finite = (x & 0x7f800000u) != 0x7f800000u;
  return (finite ? x + 0x1000u : x) & ~0x1fffu;
}
CUDAOPT_INLINE float saturated_f32(float x) { return saturate(x); }

template <Rounding kMode>
CUDAOPT_INLINE std::int32_t s32_of_f32(float x) {
  return to_s32(whole(x, kMode));
}
template <Rounding kMode>
CUDAOPT_INLINE std::uint32_t u32_of_f32(float x) {
  return to_narrow(whole(x, kMode), 0.0, 4294967295.0, 0.0);
}
template <Rounding kMode>
CUDAOPT_INLINE float whole_f32(float x) {
  return canonical(whole(x, kMode));
}

inline constexpr std::int32_t kPackRelu = 1, kPackFinite = 2;

// .satfinite, before rounding: the largest number stays what it is.
template <class Half>
CUDAOPT_INLINE float finite_if(Flags flags, float x) {
  const float most = Half::decode(Half::kInfinity - 1);
  return flags.has(kPackFinite) && magnitude(x) > most ? with_sign_of(most, x) : x;
}

template <class Half>
CUDAOPT_INLINE std::uint32_t pack(Flags flags, float upper, float lower) {
  const std::uint32_t low = Half::encode(finite_if<Half>(flags, lower)),
                      high = Half::encode(finite_if<Half>(flags, upper));
  return flags.has(kPackRelu) ? pair_of(relu_half(low), relu_half(high)) : pair_of(low, high);
}
template <class Half>
CUDAOPT_INLINE std::uint32_t pack_towards_zero(Flags flags, float upper, float lower) {
  const auto rounded = [](float x) {
    return static_cast<float>(round_to<typename Half::Format>(x, Rounding::rz));
  };
  return pack<Half>(flags, rounded(upper), rounded(lower));
}

// Between registers of the types' own widths, without modifiers.
std::optional<Binding> frequent_integer(Type to, Type from) {
  const IntegerType a = integer_type(from), d = integer_type(to);
  if (d.bits == 32 && a.bits == 64)
    return lanewise<resize<std::uint32_t, std::uint64_t>>(Pipe::integer, kSimpleConversion);
  if (d.bits == 64 && a.bits == 32)
    return a.is_signed
               ? lanewise<resize<std::int64_t, std::int32_t>>(Pipe::integer, kSimpleConversion)
               : lanewise<resize<std::uint64_t, std::uint32_t>>(Pipe::integer, kSimpleConversion);
  if (d.bits == 32 && a.bits == 16)
    return a.is_signed
               ? lanewise<resize<std::int32_t, std::int16_t>>(Pipe::integer, kSimpleConversion)
               : lanewise<resize<std::uint32_t, std::uint16_t>>(Pipe::integer, kSimpleConversion);
  if (d.bits == 32 && a.bits == 8)
    return a.is_signed
               ? lanewise<resize<std::int32_t, std::int8_t>>(Pipe::integer, kSimpleConversion)
               : lanewise<resize<std::uint32_t, std::uint8_t>>(Pipe::integer, kSimpleConversion);
  return std::nullopt;
}

std::optional<Binding> frequent_to_f32(Type from, Rounding rounding) {
  const bool nearest = rounding == Rounding::rn, exact = rounding == Rounding::none;
  if (nearest && from == Type::s32) return lanewise<f32_of_s32>(Pipe::special, kConversion);
  if (nearest && from == Type::u32) return lanewise<f32_of_u32>(Pipe::special, kConversion);
  if (nearest && from == Type::f64) return lanewise<f32_of_f64>(Pipe::fp64, kDoubleConversion);
  if (exact && from == Type::f16) return lanewise<F16::decode>(Pipe::fp32, kSimpleConversion);
  if (exact && from == Type::bf16) return lanewise<f32_of_bf16>(Pipe::fp32, kSimpleConversion);
  if (from != Type::f32) return std::nullopt;
  switch (rounding) {
    case Rounding::rni:
      return lanewise<whole_f32<Rounding::rni>>(Pipe::special, kConversion);
    case Rounding::rzi:
      return lanewise<whole_f32<Rounding::rzi>>(Pipe::special, kConversion);
    case Rounding::rmi:
      return lanewise<whole_f32<Rounding::rmi>>(Pipe::special, kConversion);
    case Rounding::rpi:
      return lanewise<whole_f32<Rounding::rpi>>(Pipe::special, kConversion);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> frequent_from_f32(Type to, Rounding rounding) {
  const bool nearest = rounding == Rounding::rn;
  if (nearest && to == Type::f16) return lanewise<F16::encode>(Pipe::half, kConversion);
  if (nearest && to == Type::bf16)
    return lanewise<static_cast<std::uint32_t (*)(float)>(Bf16::encode)>(Pipe::half, kConversion);
  if (to == Type::tf32 && rounding == Rounding::rna)
    return lanewise<tf32_rna>(Pipe::fp32, kSimpleConversion);
  if (to == Type::f64 && rounding == Rounding::none)
    return lanewise<f64_of_f32>(Pipe::fp64, kDoubleConversion);
  if (to == Type::u32 && rounding == Rounding::rzi)
    return lanewise<u32_of_f32<Rounding::rzi>>(Pipe::special, kConversion);
  if (to != Type::s32) return std::nullopt;
  switch (rounding) {
    case Rounding::rni:
      return lanewise<s32_of_f32<Rounding::rni>>(Pipe::special, kConversion);
    case Rounding::rzi:
      return lanewise<s32_of_f32<Rounding::rzi>>(Pipe::special, kConversion);
    case Rounding::rmi:
      return lanewise<s32_of_f32<Rounding::rmi>>(Pipe::special, kConversion);
    case Rounding::rpi:
      return lanewise<s32_of_f32<Rounding::rpi>>(Pipe::special, kConversion);
    default:
      return std::nullopt;
  }
}

bool is_64_bits(Type type) { return integer_type(type).bits == 64 || type == Type::f64; }

std::optional<Binding> frequent(const Conversion& how) {
  const bool own_widths =
      how.wide_source == is_64_bits(how.from) && (how.register_bits == 64) == is_64_bits(how.to);
  if (!own_widths || how.relu || how.ftz || how.satfinite) return std::nullopt;
  if (how.sat) {
    if (how.from != Type::f32 || how.to != Type::f32 || how.rounding != Rounding::none)
      return std::nullopt;
    return lanewise<saturated_f32>(Pipe::fp32, kSimpleConversion);
  }
  if (integer_type(how.from).bits != 0 && integer_type(how.to).bits != 0)
    return frequent_integer(how.to, how.from);
  if (how.to == Type::f32) return frequent_to_f32(how.from, how.rounding);
  if (how.from == Type::f32) return frequent_from_f32(how.to, how.rounding);
  if (how.to == Type::f64 && how.from == Type::s32)
    return lanewise<f64_of_s32>(Pipe::fp64, kDoubleConversion);
  if (how.to == Type::f64 && how.from == Type::u32)
    return lanewise<f64_of_u32>(Pipe::fp64, kDoubleConversion);
  return std::nullopt;
}

std::optional<Binding> bind_pack(const Form& form) {
  const bool f16 = form.types[0] == Type::f16x2;
  if (form.types[1] != Type::f32 || !form.only({Modifier::relu, Modifier::satfinite}))
    return std::nullopt;
  const Flags flags{(form.has(Modifier::relu) ? kPackRelu : 0) |
                    (form.has(Modifier::satfinite) ? kPackFinite : 0)};
  if (form.rounding == Rounding::rn)
    return f16 ? lanewise<pack<F16>>(Pipe::half, kConversion, flags)
               : lanewise<pack<Bf16>>(Pipe::half, kConversion, flags);
  if (form.rounding != Rounding::rz) return std::nullopt;
  return f16 ? lanewise<pack_towards_zero<F16>>(Pipe::half, kConversion, flags)
             : lanewise<pack_towards_zero<Bf16>>(Pipe::half, kConversion, flags);
}

int register_bits(const ptx::Function& function, const ptx::Operand& operand) {
  switch (function.registers[static_cast<std::size_t>(operand.reg)].type) {
    case ptx::RegisterClass::b16:
      return 16;
    case ptx::RegisterClass::b64:
      return 64;
    default:
      return 32;
  }
}

bool convertible(Type type) { return integer_type(type).bits != 0 || is_float(type); }

std::optional<Conversion> read_conversion(const ptx::Function& function, const Form& form,
                                          const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (operands.size() != 2 || operands[0].kind != ptx::Operand::Kind::reg) return std::nullopt;
  Conversion how;
  how.to = form.types[0];
  how.from = form.types[1];
  if (!convertible(how.to) || !convertible(how.from) || how.from == Type::tf32) return std::nullopt;
  how.rounding = form.rounding;
  how.ftz = form.has(Modifier::ftz) && how.to != Type::f16;  // which the hardware ignores
  how.sat = form.has(Modifier::sat);
  how.relu = form.has(Modifier::relu);
  how.satfinite = form.has(Modifier::satfinite);
  const bool narrow_float = how.to == Type::f16 || how.to == Type::bf16 || how.to == Type::tf32;
  if (how.satfinite && (how.from != Type::f32 || !narrow_float)) return std::nullopt;
  const bool known_width = operands[1].kind == ptx::Operand::Kind::reg;
  how.wide_source = known_width ? is_wide_register(function, operands[1]) : is_64_bits(how.from);
  how.register_bits = register_bits(function, operands[0]);
  if (is_64_bits(how.from) && !how.wide_source) return std::nullopt;
  if (is_64_bits(how.to) && how.register_bits != 64) return std::nullopt;
  if (is_float(how.from) && how.wide_source != (how.from == Type::f64)) return std::nullopt;
  if (is_float(how.to) && (how.register_bits == 64) != (how.to == Type::f64)) return std::nullopt;
  return how;
}

}  // namespace

std::optional<Binding> bind_convert(const ptx::Function& function,
                                    const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form || form->opcode != Opcode::cvt) return std::nullopt;
  if (form->has(Modifier::pack)) return bind_pack_integers(*form);
  if (form->type_count != 2) return std::nullopt;
  if (is_fp8_pair(form->types[0]) || is_fp8_pair(form->types[1])) return bind_fp8_conversion(*form);
  if (form->types[0] == Type::f16x2 || form->types[0] == Type::bf16x2) return bind_pack(*form);
  if (!form->only({Modifier::ftz, Modifier::sat, Modifier::relu, Modifier::satfinite}))
    return std::nullopt;
  const auto how = read_conversion(function, *form, instruction);
  if (!how) return std::nullopt;
  if (auto binding = frequent(*how)) return binding;
  return bind_general_conversion(*how);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
