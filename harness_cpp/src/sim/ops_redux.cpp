// redux: what the lanes of a warp add up to, or the least or greatest of them.
#include "sim/alu.hpp"
#include "sim/families.hpp"
#include "sim/float_flags.hpp"
#include "sim/form.hpp"
#include "sim/ops.hpp"
#include "sim/warp_wide.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

template <Modifier kOperation, class T>
CUDAOPT_INLINE T reduce(T a, T b) {
  if constexpr (kOperation == Modifier::add)
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  if constexpr (kOperation == Modifier::min) return a < b ? a : b;
  if constexpr (kOperation == Modifier::max) return a > b ? a : b;
  if constexpr (kOperation == Modifier::and_) return a & b;
  if constexpr (kOperation == Modifier::or_) return a | b;
  return a ^ b;
}

template <Modifier kOperation, class T>
std::int32_t redux(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<T> a(warp, op, 0);
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  T values[kLanes] = {};
  for (std::uint32_t waiting = mask; waiting != 0;) {
    const int first = __builtin_ctz(waiting);
    const std::uint32_t group = members.masks[first];
    T total = a[first];
    for (std::uint32_t rest = group & ~kLaneBits[first]; rest != 0; rest &= rest - 1)
      total = reduce<kOperation, T>(total, a[__builtin_ctz(rest)]);
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1)
      values[__builtin_ctz(rest)] = total;
    waiting &= ~group;
  }
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

// Numbers win over NaN unless .NaN; .abs: of the magnitudes.
template <bool kMaximum>
std::int32_t redux_float(Warp& warp, const Op& op, std::uint32_t mask) {
  const Flags flags{member_flags(op)};
  const Source<float> a(warp, op, 0);
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  const auto read = [&](int lane) { return flags.has(kAbs) ? magnitude(a[lane]) : a[lane]; };
  float values[kLanes] = {};
  for (std::uint32_t waiting = mask; waiting != 0;) {
    const int first = __builtin_ctz(waiting);
    const std::uint32_t group = members.masks[first];
    float total = canonical(read(first));
    for (std::uint32_t rest = group & ~kLaneBits[first]; rest != 0; rest &= rest - 1)
      total = extreme_with<kMaximum>(flags, total, read(__builtin_ctz(rest)));
    for (std::uint32_t rest = group; rest != 0; rest &= rest - 1)
      values[__builtin_ctz(rest)] = total;
    waiting &= ~group;
  }
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

std::optional<Binding> bind_redux_float(const Form& form) {
  using M = Modifier;
  const bool maximum = form.has(M::max);
  if (!form.has(M::sync) || maximum == form.has(M::min) ||
      !form.only({M::sync, M::min, M::max, M::abs, M::nan_result}))
    return std::nullopt;
  Binding binding = warp_wide(maximum ? redux_float<true> : redux_float<false>);
  binding.dst[0] = binding.src[0] = binding.src[1] = Slot::b32;
  const std::int32_t magnitudes = form.has(M::abs) ? kAbs : 0;
  binding.aux = member_aux(1, Slot::b32, Slot::b32, float_flags(form).bits | magnitudes);
  return binding;
}

Handler redux_handler(const Form& form) {
  const Type type = form.type();
  const bool is_signed = type == Type::s32;
  if (type == Type::b32) {
    if (form.has(Modifier::and_)) return redux<Modifier::and_, std::uint32_t>;
    if (form.has(Modifier::or_)) return redux<Modifier::or_, std::uint32_t>;
    return form.has(Modifier::xor_) ? redux<Modifier::xor_, std::uint32_t> : nullptr;
  }
  if (!is_signed && type != Type::u32) return nullptr;
  if (form.has(Modifier::add)) return redux<Modifier::add, std::uint32_t>;
  if (form.has(Modifier::min))
    return is_signed ? redux<Modifier::min, std::int32_t> : redux<Modifier::min, std::uint32_t>;
  if (!form.has(Modifier::max)) return nullptr;
  return is_signed ? redux<Modifier::max, std::int32_t> : redux<Modifier::max, std::uint32_t>;
}

}  // namespace

std::optional<Binding> bind_redux(const Form& form) {
  if (form.type() == Type::f32) return bind_redux_float(form);
  const Handler handler = redux_handler(form);
  if (handler == nullptr || !form.has(Modifier::sync)) return std::nullopt;
  Binding binding = warp_wide(handler);
  binding.dst[0] = binding.src[0] = binding.src[1] = Slot::b32;
  binding.aux = member_aux(1);
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
