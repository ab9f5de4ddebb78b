// Bits as bits: logic, shifts, fields, byte permutation.
#include "sim/families.hpp"
#include "sim/logic_table.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

struct And {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

struct Not {
  template <class T>
  CUDAOPT_INLINE static T apply(T a) {
    return static_cast<T>(~a);
  }
};

struct LogicalNot {
  template <class T>
  CUDAOPT_INLINE static T apply(T a) {
    return a == 0 ? T{1} : T{0};
  }
};

// Amounts at or beyond the width push every bit out; C++ leaves such shifts undefined.
struct ShiftLeft {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, std::uint32_t amount) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const T shifted = static_cast<T>(a << (amount & (kBits - 1)));
    return amount < kBits ? shifted : T{0};
  }
};

struct ShiftRight {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, std::uint32_t amount) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (amount < kBits ? amount : kBits - 1));
    } else {
      const T shifted = static_cast<T>(a >> (amount & (kBits - 1)));
      return amount < kBits ? shifted : T{0};
    }
  }
};

CUDAOPT_INLINE std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

template <bool kClamp>
CUDAOPT_INLINE std::uint32_t funnel_amount(std::uint32_t amount) {
  if constexpr (kClamp) return amount < 32 ? amount : 32;
  return amount & 31;
}

template <bool kClamp>
CUDAOPT_INLINE std::uint32_t funnel_left(std::uint32_t low, std::uint32_t high,
                                         std::uint32_t amount) {
  return static_cast<std::uint32_t>((joined(low, high) << funnel_amount<kClamp>(amount)) >> 32);
}

template <bool kClamp>
CUDAOPT_INLINE std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high,
                                          std::uint32_t amount) {
  return static_cast<std::uint32_t>(joined(low, high) >> funnel_amount<kClamp>(amount));
}

// `length` ones at the bottom; more than fit are all ones.
template <class T>
CUDAOPT_INLINE T ones(std::uint32_t length) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  return length < kBits ? static_cast<T>((T{1} << (length & (kBits - 1))) - 1)
                        : static_cast<T>(~T{0});
}

// Positions and lengths of fields are their low 8 bits; only the 64-bit forms take larger ones for
// what they are, as the hardware does.
template <class T>
CUDAOPT_INLINE std::uint32_t field_bound(std::uint32_t written) {
  if constexpr (sizeof(T) == 4) return written & 0xff;
  return written < 0xff ? written : 0xff;
}

struct ExtractField {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, std::uint32_t position, std::uint32_t length) {
    using Bits = std::make_unsigned_t<T>;
    constexpr std::uint32_t kTop = 8 * sizeof(T) - 1;
    position = field_bound<T>(position);
    length = field_bound<T>(length);
    const Bits bits = static_cast<Bits>(a);
    const Bits kept = ones<Bits>(length);
    const Bits field = ShiftRight::apply<Bits>(bits, position) & kept;
    if constexpr (!std::is_signed_v<T>) return field;
    // The sign is the field's last bit, or the register's where the field runs past its end.
    const std::uint32_t last = position + length - 1 < kTop ? position + length - 1 : kTop;
    const bool negative = length != 0 && ((bits >> (last & kTop)) & 1) != 0;
    const std::uint32_t present = position > kTop ? 0 : last - position + 1;
    return static_cast<T>(negative ? field | static_cast<Bits>(~ones<Bits>(present)) : field);
  }
};

template <class T>
CUDAOPT_INLINE T insert_field(T field, T base, std::uint32_t position, std::uint32_t length) {
  position = field_bound<T>(position);
  const T mask = ShiftLeft::apply<T>(ones<T>(field_bound<T>(length)), position);
  return (base & static_cast<T>(~mask)) | (ShiftLeft::apply<T>(field, position) & mask);
}

// Each nibble of `selector` picks one of eight bytes; its top bit asks for the byte's sign instead.
CUDAOPT_INLINE std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = joined(a, b);
  std::uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t pick = selector >> (4 * k);
    const auto byte = static_cast<std::uint32_t>(bytes >> (8 * (pick & 7))) & 0xffu;
    const std::uint32_t sign = (byte & 0x80u) != 0 ? 0xffu : 0u;
    result |= ((pick & 8u) != 0 ? sign : byte) << (8 * k);
  }
  return result;
}

// The named modes are fixed selectors, one nibble per byte, chosen by the two low bits of `c`.
struct PermuteMode {
  Modifier mode;
  std::uint16_t selectors[4];
};
constexpr PermuteMode kPermuteModes[] = {
    {Modifier::f4e, {0x3210, 0x4321, 0x5432, 0x6543}},
    {Modifier::b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
    {Modifier::rc8, {0x0000, 0x1111, 0x2222, 0x3333}},
    {Modifier::ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
    {Modifier::ecr, {0x0000, 0x1110, 0x2210, 0x3210}},
    {Modifier::rc16, {0x1010, 0x3232, 0x1010, 0x3232}},
};

CUDAOPT_INLINE std::uint32_t permute_by_mode(Flags mode, std::uint32_t a, std::uint32_t b,
                                             std::uint32_t c) {
  return permute(a, b, kPermuteModes[mode.bits].selectors[c & 3]);
}

constexpr std::uint16_t kSimple = 4, kPermute = 5;

template <class Operation>
std::optional<Binding> logic(Type type) {
  switch (type) {
    case Type::b16:
      return lanewise<Operation::template apply<std::uint16_t>>(Pipe::integer, kSimple);
    case Type::b32:
      return lanewise<Operation::template apply<std::uint32_t>>(Pipe::integer, kSimple);
    case Type::b64:
      return lanewise<Operation::template apply<std::uint64_t>>(Pipe::integer, kSimple);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_shr(Type type) {
  switch (type) {
    case Type::s16:
      return lanewise<ShiftRight::apply<std::int16_t>>(Pipe::integer, kSimple);
    case Type::s32:
      return lanewise<ShiftRight::apply<std::int32_t>>(Pipe::integer, kSimple);
    case Type::s64:
      return lanewise<ShiftRight::apply<std::int64_t>>(Pipe::integer, kSimple);
    case Type::u16:
      return logic<ShiftRight>(Type::b16);
    case Type::u32:
      return logic<ShiftRight>(Type::b32);
    case Type::u64:
      return logic<ShiftRight>(Type::b64);
    default:
      return logic<ShiftRight>(type);
  }
}

std::optional<Binding> bind_shf(const Form& form) {
  if (form.type() != Type::b32 || form.has(Modifier::left) == form.has(Modifier::right) ||
      form.has(Modifier::wrap) == form.has(Modifier::clamp))
    return std::nullopt;
  const bool clamp = form.has(Modifier::clamp);
  if (form.has(Modifier::left))
    return clamp ? lanewise<funnel_left<true>>(Pipe::integer, kSimple)
                 : lanewise<funnel_left<false>>(Pipe::integer, kSimple);
  return clamp ? lanewise<funnel_right<true>>(Pipe::integer, kSimple)
               : lanewise<funnel_right<false>>(Pipe::integer, kSimple);
}

std::optional<Binding> bind_bfe(Type type) {
  switch (type) {
    case Type::u32:
      return lanewise<ExtractField::apply<std::uint32_t>>(Pipe::integer, kPermute);
    case Type::s32:
      return lanewise<ExtractField::apply<std::int32_t>>(Pipe::integer, kPermute);
    case Type::u64:
      return lanewise<ExtractField::apply<std::uint64_t>>(Pipe::integer, kPermute);
    case Type::s64:
      return lanewise<ExtractField::apply<std::int64_t>>(Pipe::integer, kPermute);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_bfi(Type type) {
  if (type == Type::b32) return lanewise<insert_field<std::uint32_t>>(Pipe::integer, kPermute);
  if (type == Type::b64) return lanewise<insert_field<std::uint64_t>>(Pipe::integer, kPermute);
  return std::nullopt;
}

std::optional<Binding> bind_prmt(const Form& form) {
  if (form.type() != Type::b32) return std::nullopt;
  if (form.modifier_count == 0) return lanewise<permute>(Pipe::integer, kPermute);
  for (std::int32_t k = 0; k < 6; ++k)
    if (form.has(kPermuteModes[k].mode))
      return lane_by_lane<permute_by_mode>(Pipe::integer, kPermute, Flags{k});
  return std::nullopt;
}

}  // namespace

std::optional<Binding> bind_bits(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form || form->rounding != Rounding::none || form->type_count != 1) return std::nullopt;
  if (form->opcode == Opcode::shf) return bind_shf(*form);
  if (form->opcode == Opcode::prmt) return bind_prmt(*form);
  if (form->opcode == Opcode::bmsk || form->opcode == Opcode::szext ||
      form->opcode == Opcode::fns || (form->opcode == Opcode::lop3 && form->modifier_count != 0))
    return bind_masks(*form);
  if (!form->only({})) return std::nullopt;
  const Type type = form->type();
  switch (form->opcode) {
    case Opcode::and_:
      return logic<And>(type);
    case Opcode::or_:
      return logic<Or>(type);
    case Opcode::xor_:
      return logic<Xor>(type);
    case Opcode::not_:
      return logic<Not>(type);
    case Opcode::cnot:
      return logic<LogicalNot>(type);
    case Opcode::shl:
      return logic<ShiftLeft>(type);
    case Opcode::shr:
      return bind_shr(type);
    case Opcode::bfe:
      return bind_bfe(type);
    case Opcode::bfi:
      return bind_bfi(type);
    case Opcode::lop3:
      if (type != Type::b32) return std::nullopt;
      return lanewise<three_input_logic>(Pipe::integer, kSimple);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
