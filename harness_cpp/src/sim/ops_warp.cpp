// Instructions by which the lanes of a warp see one another: shuffles, votes, matches, reductions.
#include "sim/alu.hpp"
#include "sim/block_watch.hpp"
#include "sim/float_flags.hpp"
#include "sim/form.hpp"
#include "sim/members.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// What a shuffle reads from a lane that takes no part. PTX leaves it undefined, and much correct
// code reads such lanes without using the result, so it is no fault: a NaN and an unlikely integer,
// so that a result which does depend on it is wrong for all to see.
inline constexpr std::uint32_t kFromNowhere = 0x7fc0deadu;

// The member masks, one per lane; instructions without .sync speak for the lanes that execute them.
struct Members {
  std::uint32_t masks[kLanes];
  bool all_here = true;

  Members(Warp& warp, const Op& op, std::uint32_t mask, int source) {
    if (source < 0) {
      for (std::uint32_t& each : masks) each = mask;
      return;
    }
    const Source<std::uint32_t> written(warp, op, source);
    for (int i = 0; i < kLanes; ++i) masks[i] = written[i];
    all_here = all_members_here(warp, op, mask, masks);
    if (all_here && warp.launch->watch != nullptr) warp.block->watch->warp_met(warp, mask);
    for (std::uint32_t& each : masks) each &= mask;
  }
};

struct Target {
  std::int32_t lane;
  bool in_range;
};

template <Modifier kMode>
CUDAOPT_INLINE Target target_of(std::int32_t lane, std::uint32_t b, std::uint32_t c) {
  const auto distance = static_cast<std::int32_t>(b & 31);
  const auto bound = static_cast<std::int32_t>(c & 31),
             segment = static_cast<std::int32_t>((c >> 8) & 31);
  const std::int32_t first = lane & segment;
  const std::int32_t last = first | (bound & ~segment);
  if constexpr (kMode == Modifier::up) return {lane - distance, lane - distance >= last};
  if constexpr (kMode == Modifier::down) return {lane + distance, lane + distance <= last};
  if constexpr (kMode == Modifier::bfly) return {lane ^ distance, (lane ^ distance) <= last};
  const std::int32_t index = first | (distance & ~segment);
  return {index, index <= last};
}

template <Modifier kMode>
std::int32_t shuffle(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<std::uint32_t> a(warp, op, 0), b(warp, op, 1), c(warp, op, 2);
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t values[kLanes], in_range = 0;
  for (int i = 0; i < kLanes; ++i) {
    const Target target = target_of<kMode>(i, b[i], c[i]);
    const std::int32_t lane = target.in_range ? target.lane & 31 : i;
    values[i] = ((members.masks[i] >> lane) & 1) != 0 ? a[lane] : kFromNowhere;
    in_range |= target.in_range ? kLaneBits[i] : 0u;
  }
  store_lanes(warp, op.dst[0], values, mask);
  if (op.dst[1] >= 0) write_predicate(warp, op.dst[1], in_range, mask);
  return op.pc + 1;
}

Binding warp_wide(Handler handler) {
  Binding binding;
  binding.full = binding.masked = handler;
  binding.latency = 25;
  return binding;
}

// Operands: d{|p}, a, b, c{, mask}
std::optional<Binding> bind_shfl(const Form& form, std::size_t operands) {
  Handler handler = nullptr;
  if (form.has(Modifier::up)) handler = shuffle<Modifier::up>;
  if (form.has(Modifier::down)) handler = shuffle<Modifier::down>;
  if (form.has(Modifier::bfly)) handler = shuffle<Modifier::bfly>;
  if (form.has(Modifier::idx)) handler = shuffle<Modifier::idx>;
  const bool sync = form.has(Modifier::sync);
  const std::size_t sources = sync ? 4 : 3;
  if (handler == nullptr || form.type() != Type::b32 || operands < sources + 1 ||
      operands > sources + 2)
    return std::nullopt;
  Binding binding = warp_wide(handler);
  binding.pipe = Pipe::memory;  // the shuffle network is that of shared memory
  binding.dst[0] = Slot::b32;
  if (operands == sources + 2) binding.dst[1] = Slot::predicate;
  for (std::size_t k = 0; k < sources; ++k) binding.src[k] = Slot::b32;
  binding.aux = member_aux(sync ? 3 : -1);
  return binding;
}

template <Modifier kQuestion>
CUDAOPT_INLINE bool answer(std::uint32_t yes, std::uint32_t all) {
  if constexpr (kQuestion == Modifier::all) return yes == all;
  if constexpr (kQuestion == Modifier::any) return yes != 0;
  return yes == 0 || yes == all;
}

template <Modifier kQuestion>
std::int32_t vote(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t yes = Source<bool>(warp, op, 0).bits;
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t all = members.masks[i];
    bits |= answer<kQuestion>(yes & all, all) ? kLaneBits[i] : 0u;
  }
  write_predicate(warp, op.dst[0], bits, mask);
  return op.pc + 1;
}

std::int32_t ballot(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t yes = Source<bool>(warp, op, 0).bits;
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) values[i] = yes & members.masks[i];
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

std::optional<Binding> bind_vote(const Form& form) {
  Handler handler = nullptr;
  if (form.has(Modifier::all)) handler = vote<Modifier::all>;
  if (form.has(Modifier::any)) handler = vote<Modifier::any>;
  if (form.has(Modifier::uni)) handler = vote<Modifier::uni>;
  if (form.has(Modifier::ballot)) handler = ballot;
  const Type wanted = form.has(Modifier::ballot) ? Type::b32 : Type::pred;
  if (handler == nullptr || form.type() != wanted) return std::nullopt;
  Binding binding = warp_wide(handler);
  binding.dst[0] = wanted == Type::b32 ? Slot::b32 : Slot::predicate;
  binding.src[0] = Slot::predicate;
  const bool sync = form.has(Modifier::sync);
  if (sync) binding.src[1] = Slot::b32;
  binding.aux = member_aux(sync ? 1 : -1, Slot::predicate, binding.dst[0]);
  return binding;
}

template <class T>
std::uint32_t lanes_equal_to(const Source<T>& values, T wanted, std::uint32_t among) {
  std::uint32_t equal = 0;
  for (int i = 0; i < kLanes; ++i) equal |= values[i] == wanted ? kLaneBits[i] : 0u;
  return equal & among;
}

template <class T>
std::int32_t match_any(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<T> a(warp, op, 0);
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) values[i] = lanes_equal_to<T>(a, a[i], members.masks[i]);
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

template <class T>
std::int32_t match_all(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<T> a(warp, op, 0);
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t values[kLanes], agreed = 0;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t all = members.masks[i];
    const bool agree = lanes_equal_to<T>(a, a[i], all) == all;
    values[i] = agree ? all : 0;
    agreed |= agree ? kLaneBits[i] : 0u;
  }
  store_lanes(warp, op.dst[0], values, mask);
  if (op.dst[1] >= 0) write_predicate(warp, op.dst[1], agreed, mask);
  return op.pc + 1;
}

std::optional<Binding> bind_match(const Form& form, std::size_t operands) {
  const bool wide = form.type() == Type::b64, any = form.has(Modifier::any);
  if ((!wide && form.type() != Type::b32) || any == form.has(Modifier::all)) return std::nullopt;
  const bool has_predicate = operands == 4;
  if (operands < 3 || operands > 4 || (any && has_predicate)) return std::nullopt;
  Binding binding = warp_wide(any ? (wide ? match_any<std::uint64_t> : match_any<std::uint32_t>)
                                  : (wide ? match_all<std::uint64_t> : match_all<std::uint32_t>));
  binding.dst[0] = Slot::b32;
  if (has_predicate) binding.dst[1] = Slot::predicate;
  binding.src[0] = wide ? Slot::b64 : Slot::b32;
  binding.src[1] = Slot::b32;
  binding.aux = member_aux(1, binding.src[0]);
  return binding;
}

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

std::optional<Binding> bind_redux(const Form& form) {
  if (form.type() == Type::f32) return bind_redux_float(form);
  const Handler handler = redux_handler(form);
  if (handler == nullptr || !form.has(Modifier::sync)) return std::nullopt;
  Binding binding = warp_wide(handler);
  binding.dst[0] = binding.src[0] = binding.src[1] = Slot::b32;
  binding.aux = member_aux(1);
  return binding;
}

std::int32_t activemask(Warp& warp, const Op& op, std::uint32_t mask) {
  std::uint32_t values[kLanes];
  for (std::uint32_t& value : values) value = mask;
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

// The lowest member is the leader.
std::int32_t elect(Warp& warp, const Op& op, std::uint32_t mask) {
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t values[kLanes], leads = 0;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint32_t all = members.masks[i];
    values[i] = all == 0 ? 0 : static_cast<std::uint32_t>(__builtin_ctz(all));
    leads |= values[i] == static_cast<std::uint32_t>(i) ? kLaneBits[i] : 0u;
  }
  store_lanes(warp, op.dst[0], values, mask);
  if (op.dst[1] >= 0) write_predicate(warp, op.dst[1], leads, mask);
  return op.pc + 1;
}

// Lanes that are here have arrived; those that are not have them wait.
std::int32_t synchronize(Warp& warp, const Op& op, std::uint32_t mask) {
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  return op.pc + 1;
}

std::optional<Binding> bind_presence(const Form& form, std::size_t operands) {
  if (form.opcode == Opcode::activemask) {
    if (form.type() != Type::b32 || form.modifier_count != 0) return std::nullopt;
    Binding binding = warp_wide(activemask);
    binding.dst[0] = Slot::b32;
    return binding;
  }
  if (form.opcode == Opcode::elect) {
    if (operands != 3 || !form.has(Modifier::sync)) return std::nullopt;
    Binding binding = warp_wide(elect);
    binding.dst[0] = binding.src[0] = Slot::b32;
    binding.dst[1] = Slot::predicate;
    binding.aux = member_aux(0);
    return binding;
  }
  if (!form.has(Modifier::warp) || !form.has(Modifier::sync) || operands != 1) return std::nullopt;
  Binding binding = warp_wide(synchronize);
  binding.src[0] = Slot::b32;
  binding.aux = member_aux(0);
  binding.pipe = Pipe::control;
  return binding;
}

}  // namespace

std::optional<Binding> bind_warp(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form || form->rounding != Rounding::none || form->type_count > 1) return std::nullopt;
  const std::size_t operands = instruction.operands.size();
  switch (form->opcode) {
    case Opcode::shfl:
      return bind_shfl(*form, operands);
    case Opcode::vote:
      return bind_vote(*form);
    case Opcode::match:
      return bind_match(*form, operands);
    case Opcode::redux:
      return bind_redux(*form);
    case Opcode::activemask:
    case Opcode::elect:
    case Opcode::bar:
      return bind_presence(*form, operands);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
