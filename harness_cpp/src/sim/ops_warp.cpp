// Instructions by which the lanes of a warp see one another: votes, matches, who is there.
#include "sim/alu.hpp"
#include "sim/families.hpp"
#include "sim/form.hpp"
#include "sim/ops.hpp"
#include "sim/warp_wide.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

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
