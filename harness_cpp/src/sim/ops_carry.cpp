// Extended-precision arithmetic: the forms that write or read the carry flag.
#include "sim/alu.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

inline constexpr std::int32_t kReadsCarry = 1, kWritesCarry = 2, kSubtracts = 4, kMultiplies = 8,
                              kHighHalf = 16, kSigned = 32;

template <class T>
struct TwiceAsWide;
template <>
struct TwiceAsWide<std::uint32_t> {
  using Unsigned = std::uint64_t;
  using Signed = std::int64_t;
};
template <>
struct TwiceAsWide<std::uint64_t> {
  __extension__ typedef unsigned __int128 Unsigned;
  __extension__ typedef __int128 Signed;
};

template <class T>
T half_of_product(Flags flags, T a, T b) {
  using Unsigned = typename TwiceAsWide<T>::Unsigned;
  using Signed = typename TwiceAsWide<T>::Signed;
  if (!flags.has(kHighHalf)) return a * b;
  if (!flags.has(kSigned)) return static_cast<T>((Unsigned{a} * b) >> (8 * sizeof(T)));
  using Narrow = std::make_signed_t<T>;
  const Signed product = Signed{static_cast<Narrow>(a)} * static_cast<Narrow>(b);
  return static_cast<T>(product >> (8 * sizeof(T)));
}

// What bit 0 of the upper half of `result` says: a carry of a sum, a borrow of a difference.
template <class T>
typename TwiceAsWide<T>::Unsigned combine(Flags flags, T a, T b, bool carry) {
  using Unsigned = typename TwiceAsWide<T>::Unsigned;
  const Unsigned in = flags.has(kReadsCarry) && carry ? 1u : 0u;
  return flags.has(kSubtracts) ? Unsigned{a} - b - in : Unsigned{a} + b + in;
}

template <class T>
std::int32_t execute(Warp& warp, const Op& op, std::uint32_t mask) {
  const Flags flags{op.aux};
  const Source<T> a(warp, op, 0), b(warp, op, 1), c(warp, op, flags.has(kMultiplies) ? 2 : 1);
  const LanePointer<T> out = lane_pointer<T>(warp, op.dst[0]);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    const std::uint32_t bit = 1u << i;
    const T first = flags.has(kMultiplies) ? half_of_product<T>(flags, a[i], b[i]) : a[i];
    const auto result = combine<T>(flags, first, c[i], (warp.carry & bit) != 0);
    out[i] = static_cast<T>(result);
    const bool carry = ((result >> (8 * sizeof(T))) & 1) != 0;
    if (flags.has(kWritesCarry)) warp.carry = carry ? warp.carry | bit : warp.carry & ~bit;
  }
  return op.pc + 1;
}

std::optional<Flags> flags_of(const Form& form) {
  Flags flags;
  if (form.has(Modifier::cc)) flags.bits |= kWritesCarry;
  switch (form.opcode) {
    case Opcode::add:
      return flags;
    case Opcode::addc:
      flags.bits |= kReadsCarry;
      return flags;
    case Opcode::sub:
      flags.bits |= kSubtracts;
      return flags;
    case Opcode::subc:
      flags.bits |= kSubtracts | kReadsCarry;
      return flags;
    case Opcode::mad:
      break;
    case Opcode::madc:
      flags.bits |= kReadsCarry;
      break;
    default:
      return std::nullopt;
  }
  flags.bits |= kMultiplies;
  if (form.has(Modifier::hi) == form.has(Modifier::lo)) return std::nullopt;
  if (form.has(Modifier::hi)) flags.bits |= kHighHalf;
  if (form.type() == Type::s32 || form.type() == Type::s64) flags.bits |= kSigned;
  return flags;
}

template <class T>
Binding binding_of(Flags flags) {
  Binding binding;
  binding.full = binding.masked = execute<T>;
  binding.aux = flags.bits;
  binding.latency = 5;
  binding.dst[0] = slot_of<T>();
  const std::size_t sources = flags.has(kMultiplies) ? 3 : 2;
  for (std::size_t k = 0; k < sources; ++k) binding.src[k] = slot_of<T>();
  return binding;
}

}  // namespace

std::optional<Binding> bind_carry(const Form& form) {
  if (!form.only({Modifier::cc, Modifier::lo, Modifier::hi})) return std::nullopt;
  const auto flags = flags_of(form);
  if (!flags) return std::nullopt;
  switch (form.type()) {
    case Type::u32:
    case Type::s32:
    case Type::b32:
      return binding_of<std::uint32_t>(*flags);
    case Type::u64:
    case Type::s64:
    case Type::b64:
      return binding_of<std::uint64_t>(*flags);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
