// Masks and what is made with them: bmsk, szext, fns, lop3 with a predicate.
#include "sim/alu.hpp"
#include "sim/families.hpp"
#include "sim/logic_table.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// `width` ones from bit `first` on; what reaches past the register is cut off.
template <bool kClamp>
CUDAOPT_INLINE std::uint32_t bit_mask(std::uint32_t first, std::uint32_t width) {
  if (kClamp && first > 31) return 0;
  const bool all = kClamp && width > 31;
  const std::uint64_t ones = all ? 0xffffffffu : (std::uint64_t{1} << (width & 31)) - 1;
  return static_cast<std::uint32_t>(ones << (first & 31));
}

// The low `width` bits, extended.
template <class T, bool kClamp>
CUDAOPT_INLINE std::uint32_t extended(std::uint32_t a, std::uint32_t width) {
  if (kClamp && width > 31) return a;
  const std::uint32_t unused = 32 - (width & 31);
  if (unused == 32) return 0;
  return static_cast<std::uint32_t>(static_cast<T>(a << unused) >> unused);
}

// The position of the n-th set bit, counted from `base` upwards or, for negative n, downwards.
std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  if (base > 31) return kNone;
  if (n == 0) return (mask >> base & 1) != 0 ? base : kNone;
  const std::int32_t step = n > 0 ? 1 : -1;
  std::int64_t left = n > 0 ? std::int64_t{n} : -std::int64_t{n};
  for (auto at = static_cast<std::int32_t>(base); at >= 0 && at < 32; at += step) {
    left -= mask >> at & 1;
    if (left == 0) return static_cast<std::uint32_t>(at);
  }
  return kNone;
}

// lop3.and, lop3.or: d|p, a, b, c, table, q with p = (d != 0) op q.
template <bool kAnd>
std::int32_t logic_into_predicate(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<std::uint32_t> a(warp, op, 0), b(warp, op, 1), c(warp, op, 2), table(warp, op, 3);
  const std::uint32_t combined = Source<bool>(warp, op, 4).bits;
  std::uint32_t values[kLanes], nonzero = 0;
  for (int i = 0; i < kLanes; ++i) {
    values[i] = three_input_logic(a[i], b[i], c[i], table[i]);
    nonzero |= values[i] != 0 ? kLaneBits[i] : 0u;
  }
  store_lanes(warp, op.dst[0], values, mask);
  write_predicate(warp, op.dst[1], kAnd ? nonzero & combined : nonzero | combined, mask);
  return op.pc + 1;
}

constexpr std::uint16_t kSimple = 4, kLong = 20;

std::optional<Binding> bind_logic(const Form& form) {
  if (!form.only({Modifier::and_, Modifier::or_}) || form.modifier_count != 1) return std::nullopt;
  const bool is_and = form.has(Modifier::and_);
  Binding binding;
  binding.full = binding.masked = is_and ? logic_into_predicate<true> : logic_into_predicate<false>;
  binding.dst = {Slot::b32, Slot::predicate};
  binding.src = {Slot::b32, Slot::b32, Slot::b32, Slot::b32, Slot::predicate};
  return binding;
}

template <class T>
Binding bind_szext(bool clamp) {
  return clamp ? lanewise<extended<T, true>>(Pipe::integer, kSimple)
               : lanewise<extended<T, false>>(Pipe::integer, kSimple);
}

}  // namespace

std::optional<Binding> bind_masks(const Form& form) {
  const Type type = form.type();
  if (form.opcode == Opcode::fns) {
    if (type != Type::b32 || !form.only({})) return std::nullopt;
    return lane_by_lane<find_nth_set>(Pipe::integer, kLong);
  }
  if (form.opcode == Opcode::lop3) return type == Type::b32 ? bind_logic(form) : std::nullopt;
  const bool clamp = form.has(Modifier::clamp);
  if (form.modifier_count != 1 || clamp == form.has(Modifier::wrap)) return std::nullopt;
  if (form.opcode == Opcode::bmsk) {
    if (type != Type::b32) return std::nullopt;
    return clamp ? lanewise<bit_mask<true>>(Pipe::integer, kSimple)
                 : lanewise<bit_mask<false>>(Pipe::integer, kSimple);
  }
  if (type == Type::u32) return bind_szext<std::uint32_t>(clamp);
  if (type == Type::s32) return bind_szext<std::int32_t>(clamp);
  return std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
