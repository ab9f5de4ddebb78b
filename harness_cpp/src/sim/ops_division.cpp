// Integer quotients and remainders. Nothing here traps: lanes that do not execute may hold
// anything. By zero, PTX leaves the result open; quotient and remainder are all ones, as on an
// H200.
#include "sim/alu.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

inline constexpr double kTwoTo52 = 4503599627370496.0;

// Both conversions work on the bits of a double of ulp 1, which vectorises without 64-bit
// conversion instructions.
CUDAOPT_INLINE double as_double(std::uint32_t value) {
  return bits_as<double>(0x4330000000000000u | std::uint64_t{value}) - kTwoTo52;
}
CUDAOPT_INLINE std::uint32_t as_integer(double value) {
  return static_cast<std::uint32_t>(bits_as<std::uint64_t>(value + kTwoTo52));
}

// Exact: a quotient of 32-bit integers that is no integer is further from one than half an ulp of
// the double, so rounding never crosses it.
CUDAOPT_INLINE std::uint32_t quotient_u32(std::uint32_t a, std::uint32_t b) {
  const double ratio = as_double(a) / as_double(b);
  const double nearest = (ratio + kTwoTo52) - kTwoTo52;
  const double floor = nearest > ratio ? nearest - 1.0 : nearest;
  return b == 0 ? 0xffffffffu : as_integer(floor);
}

CUDAOPT_INLINE std::uint32_t remainder_u32(std::uint32_t a, std::uint32_t b) {
  return b == 0 ? 0xffffffffu : a - quotient_u32(a, b) * b;
}

CUDAOPT_INLINE std::uint32_t magnitude(std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  return value < 0 ? 0u - bits : bits;
}

CUDAOPT_INLINE std::uint32_t with_sign(std::uint32_t value, bool negative) {
  return negative ? 0u - value : value;
}

CUDAOPT_INLINE std::uint32_t quotient_s32(std::int32_t a, std::int32_t b) {
  const std::uint32_t value = with_sign(quotient_u32(magnitude(a), magnitude(b)), (a ^ b) < 0);
  return b == 0 ? 0xffffffffu : value;
}

CUDAOPT_INLINE std::uint32_t remainder_s32(std::int32_t a, std::int32_t b) {
  const std::uint32_t value = with_sign(remainder_u32(magnitude(a), magnitude(b)), a < 0);
  return b == 0 ? 0xffffffffu : value;
}

CUDAOPT_INLINE std::uint64_t quotient_u64(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? ~std::uint64_t{0} : a / b;
}
CUDAOPT_INLINE std::uint64_t remainder_u64(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? ~std::uint64_t{0} : a % b;
}

// The one quotient that overflows wraps: INT64_MIN / -1.
CUDAOPT_INLINE std::int64_t quotient_s64(std::int64_t a, std::int64_t b) {
  if (b == 0) return -1;
  if (b == -1) return static_cast<std::int64_t>(0u - static_cast<std::uint64_t>(a));
  return a / b;
}
CUDAOPT_INLINE std::int64_t remainder_s64(std::int64_t a, std::int64_t b) {
  if (b == 0) return -1;
  return b == -1 ? 0 : a % b;
}

CUDAOPT_INLINE std::uint16_t quotient_u16(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::uint16_t>(quotient_u32(a, b));
}
CUDAOPT_INLINE std::uint16_t remainder_u16(std::uint16_t a, std::uint16_t b) {
  return static_cast<std::uint16_t>(remainder_u32(a, b));
}
CUDAOPT_INLINE std::int16_t quotient_s16(std::int16_t a, std::int16_t b) {
  return static_cast<std::int16_t>(quotient_s32(a, b));
}
CUDAOPT_INLINE std::int16_t remainder_s16(std::int16_t a, std::int16_t b) {
  return static_cast<std::int16_t>(remainder_s32(a, b));
}

// The hardware runs a sequence of some 20 instructions; 64-bit ones call a routine.
constexpr std::uint16_t kLatency32 = 100, kLatency64 = 250;

std::optional<Binding> bind_quotient(Type type) {
  switch (type) {
    case Type::u16:
      return lanewise<quotient_u16>(Pipe::integer, kLatency32);
    case Type::s16:
      return lanewise<quotient_s16>(Pipe::integer, kLatency32);
    case Type::u32:
      return lanewise<quotient_u32>(Pipe::integer, kLatency32);
    case Type::s32:
      return lanewise<quotient_s32>(Pipe::integer, kLatency32);
    case Type::u64:
      return lane_by_lane<quotient_u64>(Pipe::integer, kLatency64);
    case Type::s64:
      return lane_by_lane<quotient_s64>(Pipe::integer, kLatency64);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_remainder(Type type) {
  switch (type) {
    case Type::u16:
      return lanewise<remainder_u16>(Pipe::integer, kLatency32);
    case Type::s16:
      return lanewise<remainder_s16>(Pipe::integer, kLatency32);
    case Type::u32:
      return lanewise<remainder_u32>(Pipe::integer, kLatency32);
    case Type::s32:
      return lanewise<remainder_s32>(Pipe::integer, kLatency32);
    case Type::u64:
      return lane_by_lane<remainder_u64>(Pipe::integer, kLatency64);
    case Type::s64:
      return lane_by_lane<remainder_s64>(Pipe::integer, kLatency64);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Binding> bind_division(const Form& form) {
  if (!form.only({})) return std::nullopt;
  return form.opcode == Opcode::div ? bind_quotient(form.type()) : bind_remainder(form.type());
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
