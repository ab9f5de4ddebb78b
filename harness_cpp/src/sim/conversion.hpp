// One cvt as data: what its modifiers and registers say, packed into Op::aux for the handlers.
#pragma once

#include "sim/alu.hpp"
#include "sim/form.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// The conversion as Op::aux carries it.
struct Conversion {
  Type from = Type::none, to = Type::none;
  Rounding rounding = Rounding::none;
  bool ftz = false, sat = false, relu = false, satfinite = false;
  bool wide_source = false;  // the register has 64 bits, whatever the type
  int register_bits = 32;    // of the destination: integers are extended to it

  [[nodiscard]] std::int32_t packed() const {
    return static_cast<std::int32_t>(from) | static_cast<std::int32_t>(to) << 5 |
           static_cast<std::int32_t>(rounding) << 10 | ftz << 14 | sat << 15 | relu << 16 |
           wide_source << 17 | satfinite << 18 | register_bits << 19;
  }
  static Conversion unpacked(std::int32_t aux) {
    Conversion conversion;
    conversion.from = static_cast<Type>(aux & 31);
    conversion.to = static_cast<Type>((aux >> 5) & 31);
    conversion.rounding = static_cast<Rounding>((aux >> 10) & 15);
    conversion.ftz = ((aux >> 14) & 1) != 0;
    conversion.sat = ((aux >> 15) & 1) != 0;
    conversion.relu = ((aux >> 16) & 1) != 0;
    conversion.wide_source = ((aux >> 17) & 1) != 0;
    conversion.satfinite = ((aux >> 18) & 1) != 0;
    conversion.register_bits = aux >> 19;
    return conversion;
  }
};

struct IntegerType {
  int bits = 0;  // 0: not an integer
  bool is_signed = false;
};

[[nodiscard]] IntegerType integer_type(Type type);
[[nodiscard]] bool is_float(Type type);
[[nodiscard]] bool is_fp8_pair(Type type);

// Latencies in cycles: within a pipe, through the conversion unit, through the f64 pipe.
inline constexpr std::uint16_t kSimpleConversion = 4, kConversion = 8, kDoubleConversion = 14;

// Any pair of types, one loop over the lanes for each step: ops_convert_general.cpp
Binding bind_general_conversion(const Conversion& how);
// To or from pairs of 8-bit floats: ops_convert_fp8.cpp
std::optional<Binding> bind_fp8_conversion(const Form& form);

}  // namespace cudaopt::sim::CUDAOPT_ISA
