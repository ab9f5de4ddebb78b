// Integer instructions that look inside a word: counting bits, reversing them, dot products of
// bytes.
#include "sim/alu.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

template <class T>
CUDAOPT_INLINE std::uint32_t population(T a) {
  return static_cast<std::uint32_t>(__builtin_popcountll(a));
}

template <class T>
CUDAOPT_INLINE std::uint32_t leading_zeros(T a) {
  constexpr int kAbove = 64 - 8 * static_cast<int>(sizeof(T));
  return a == 0 ? 8 * sizeof(T) : static_cast<std::uint32_t>(__builtin_clzll(a) - kAbove);
}

// The highest bit that differs from the sign, or how far to shift it to the top; all ones if none.
template <class T, bool kShiftAmount>
CUDAOPT_INLINE std::uint32_t highest_bit(T a) {
  using Bits = std::make_unsigned_t<T>;
  const Bits magnitude = a < 0 ? static_cast<Bits>(~static_cast<Bits>(a)) : static_cast<Bits>(a);
  if (magnitude == 0) return 0xffffffffu;
  const std::uint32_t zeros = leading_zeros<Bits>(magnitude);
  return kShiftAmount ? zeros : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - zeros;
}

template <class T>
CUDAOPT_INLINE T reverse_bits(T a) {
  std::uint64_t x = a;
  x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
  x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((x & 0x0f0f0f0f0f0f0f0fu) << 4);
  return static_cast<T>(__builtin_bswap64(x) >> (64 - 8 * sizeof(T)));
}

// Bits of Flags for dp2a.
inline constexpr std::int32_t kSignedA = 1, kSignedB = 2, kUpperBytes = 4;

CUDAOPT_INLINE std::int32_t extended(std::uint32_t value, int bits, bool is_signed) {
  const auto at_top = value << (32 - bits);
  const auto kept =
      is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(at_top) >> (32 - bits))
                : at_top >> (32 - bits);
  return static_cast<std::int32_t>(kept);
}

template <bool kSignedFirst, bool kSignedSecond>
CUDAOPT_INLINE std::uint32_t dot_of_4_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int k = 0; k < 32; k += 8) {
    const std::int32_t x = extended(a >> k, 8, kSignedFirst);
    const std::int32_t y = extended(b >> k, 8, kSignedSecond);
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}

CUDAOPT_INLINE std::uint32_t dot_of_2_words(Flags flags, std::uint32_t a, std::uint32_t b,
                                            std::uint32_t c) {
  const std::uint32_t bytes = flags.has(kUpperBytes) ? b >> 16 : b;
  for (int k = 0; k < 2; ++k) {
    const std::int32_t x = extended(a >> (16 * k), 16, flags.has(kSignedA));
    const std::int32_t y = extended(bytes >> (8 * k), 8, flags.has(kSignedB));
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}

constexpr std::uint16_t kProduct = 5, kSpecial = 18;

template <bool kShiftAmount>
std::optional<Binding> bind_bfind(Type type) {
  switch (type) {
    case Type::u32:
      return lane_by_lane<highest_bit<std::uint32_t, kShiftAmount>>(Pipe::integer, kSpecial);
    case Type::s32:
      return lane_by_lane<highest_bit<std::int32_t, kShiftAmount>>(Pipe::integer, kSpecial);
    case Type::u64:
      return lane_by_lane<highest_bit<std::uint64_t, kShiftAmount>>(Pipe::integer, kSpecial);
    case Type::s64:
      return lane_by_lane<highest_bit<std::int64_t, kShiftAmount>>(Pipe::integer, kSpecial);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_count(const Form& form) {
  const bool wide = form.type() == Type::b64;
  if (!wide && form.type() != Type::b32) return std::nullopt;
  switch (form.opcode) {
    case Opcode::popc:
      return wide ? lane_by_lane<population<std::uint64_t>>(Pipe::integer, kSpecial)
                  : lane_by_lane<population<std::uint32_t>>(Pipe::integer, kSpecial);
    case Opcode::clz:
      return wide ? lane_by_lane<leading_zeros<std::uint64_t>>(Pipe::integer, kSpecial)
                  : lane_by_lane<leading_zeros<std::uint32_t>>(Pipe::integer, kSpecial);
    default:
      return wide ? lane_by_lane<reverse_bits<std::uint64_t>>(Pipe::integer, kSpecial)
                  : lane_by_lane<reverse_bits<std::uint32_t>>(Pipe::integer, kSpecial);
  }
}

Binding bind_dp4a(bool signed_a, bool signed_b) {
  if (signed_a)
    return signed_b ? lanewise<dot_of_4_bytes<true, true>>(Pipe::integer, kProduct)
                    : lanewise<dot_of_4_bytes<true, false>>(Pipe::integer, kProduct);
  return signed_b ? lanewise<dot_of_4_bytes<false, true>>(Pipe::integer, kProduct)
                  : lanewise<dot_of_4_bytes<false, false>>(Pipe::integer, kProduct);
}

std::optional<Binding> bind_dot(const Form& form) {
  const auto is_integer = [](Type type) { return type == Type::u32 || type == Type::s32; };
  if (form.type_count != 2 || !is_integer(form.types[0]) || !is_integer(form.types[1]))
    return std::nullopt;
  const bool signed_a = form.types[0] == Type::s32, signed_b = form.types[1] == Type::s32;
  if (form.opcode == Opcode::dp4a) return bind_dp4a(signed_a, signed_b);
  Flags flags;
  if (signed_a) flags.bits |= kSignedA;
  if (signed_b) flags.bits |= kSignedB;
  if (form.has(Modifier::hi)) flags.bits |= kUpperBytes;
  return lanewise<dot_of_2_words>(Pipe::integer, kProduct, flags);
}

}  // namespace

std::optional<Binding> bind_counts(const Form& form) {
  switch (form.opcode) {
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
      return bind_count(form);
    case Opcode::bfind:
      return form.has(Modifier::shiftamt) ? bind_bfind<true>(form.type())
                                          : bind_bfind<false>(form.type());
    case Opcode::dp4a:
    case Opcode::dp2a:
      return bind_dot(form);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
