// cp.async: copies from global to shared memory that the thread does not wait for. Here the data is
// copied at once; launches with checks also remember which bytes nobody has waited for.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sim/block_watch.hpp"
#include "sim/ops.hpp"
#include "sim/scattered_access.hpp"
#include "sim/wide_operands.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using ptx::Instruction;
using ptx::Operand;

// What the fourth operand says of the source: how many of the bytes are read, or that none are.
// The rest of the destination becomes zeros.
enum class Source4 : std::uint8_t { none, bytes, ignored };

struct CopyForm {
  std::uint32_t bytes = 16;
  Source4 source = Source4::none;
};

enum : std::size_t { kTo, kFrom, kBytes, kFourth };

std::uint32_t source_bytes(Warp& warp, const WideOperands& wide, const CopyForm& form, int lane) {
  if (form.source == Source4::none) return form.bytes;
  const WideOperand& operand = wide.operands[kFourth];
  if (form.source == Source4::bytes)
    return std::min(form.bytes, lanes_of<std::uint32_t>(warp, operand)[lane]);
  const bool set = (warp.predicates[operand.slot] >> lane & 1u) != 0;
  return set != operand.negated ? 0 : form.bytes;
}

// Only the bytes that are read must exist, but the address is aligned for all of them.
void read_source(Warp& warp, const Op& op, std::uint64_t address, int lane, std::uint32_t aligned,
                 std::uint32_t bytes, std::uint8_t* into) {
  if (bytes != 0 && address % aligned != 0)
    (void)resolve(warp, op, ptx::Space::global, address, aligned, lane, AccessKind::load);
  std::uint32_t done = 0;
  for (std::uint32_t piece = aligned; piece != 0; piece /= 2) {
    if ((bytes & piece) == 0) continue;
    std::memcpy(
        into + done,
        resolve(warp, op, ptx::Space::global, address + done, piece, lane, AccessKind::load),
        piece);
    done += piece;
  }
}

std::uint32_t thread_of(const Warp& warp, int lane) {
  return warp.index * kLanes + static_cast<std::uint32_t>(lane);
}

// Sources shorter than the copy are told of in pieces.
void watch_source(Warp& warp, const Op& op, const Addresses& from, int lane, std::uint32_t bytes) {
  Addresses at = from;
  for (std::uint32_t piece = 16; piece != 0; piece /= 2) {
    if ((bytes & piece) == 0) continue;
    AccessShape shape;
    shape.element_bytes = std::min(piece, 4u);
    shape.elements = piece / shape.element_bytes;
    warp.block->watch->access(
        {warp, op, 1u << lane, ptx::Space::global, at.of, AccessKind::load, shape});
    at.of[lane] += piece;
  }
}

void watch_target(Warp& warp, const Op& op, const Addresses& to, std::uint32_t mask,
                  std::uint32_t bytes) {
  AccessShape shape;
  shape.elements = bytes / shape.element_bytes;
  BlockWatch& watch = *warp.block->watch;
  watch.access({warp, op, mask, ptx::Space::shared, to.of, AccessKind::store, shape});
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    watch.copy_started(warp, lane, static_cast<std::uint32_t>(to.of[lane]), bytes, op.pc);
  }
}

template <bool kWatched>
std::int32_t copy(Warp& warp, const Op& op, std::uint32_t mask) {
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<CopyForm>(wide);
  Addresses to{}, from{};
  std::uint32_t reading = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    to.of[lane] = address_of(warp, wide.operands[kTo], lane);
    from.of[lane] = address_of(warp, wide.operands[kFrom], lane);
    const std::uint32_t bytes = source_bytes(warp, wide, form, lane);
    reading |= bytes != 0 ? kLaneBits[lane] : 0u;
    alignas(16) std::uint8_t data[16] = {};
    read_source(warp, op, from.of[lane], lane, form.bytes, bytes, data);
    std::uint8_t* host =
        resolve(warp, op, ptx::Space::shared, to.of[lane], form.bytes, lane, AccessKind::store);
    std::memcpy(host, data, form.bytes);
    if constexpr (kWatched) watch_source(warp, op, from, lane, bytes);
    if constexpr (kWatched)
      warp.block->copies.start(warp.block->shared_bytes, static_cast<std::uint32_t>(to.of[lane]),
                               form.bytes, thread_of(warp, lane), op.pc);
  }
  if constexpr (kWatched) watch_target(warp, op, to, mask, form.bytes);
  if (reading != 0)
    count_scattered(warp, from, ptx::Space::global, reading, form.bytes, AccessKind::load);
  count_scattered(warp, to, ptx::Space::shared, mask, form.bytes, AccessKind::store);
  return op.pc + 1;
}

std::int32_t no_effect(Warp&, const Op& op, std::uint32_t) { return op.pc + 1; }

std::int32_t commit_group(Warp& warp, const Op& op, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    warp.block->copies.commit(thread_of(warp, __builtin_ctz(rest)));
  return op.pc + 1;
}

// Op::aux: how many groups may be pending.
std::int32_t wait_group(Warp& warp, const Op& op, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    warp.block->copies.wait(thread_of(warp, __builtin_ctz(rest)),
                            static_cast<std::uint32_t>(op.aux));
  warp.block->watch->copies_waited(warp, mask);
  return op.pc + 1;
}

std::int32_t wait_all(Warp& warp, const Op& op, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    warp.block->copies.finish(thread_of(warp, __builtin_ctz(rest)));
  warp.block->watch->copies_waited(warp, mask);
  return op.pc + 1;
}

bool is_shared(const Instruction& instruction) {
  return instruction.has("shared") || instruction.has("shared::cta");
}

bool is_immediate(const Instruction& instruction, std::size_t at) {
  return at < instruction.operands.size() &&
         instruction.operands[at].kind == Operand::Kind::immediate;
}

// cp.async.ca.shared.global [to], [from], bytes {, source bytes | ignore-source} {, policy}
std::optional<Binding> bind_one(const ptx::Function& function, const Instruction& instruction,
                                Watch watch) {
  const std::vector<Operand>& operands = instruction.operands;
  const std::size_t policy = instruction.has("L2::cache_hint") ? 1 : 0;
  if (operands.size() < 3 + policy || operands.size() > 4 + policy) return std::nullopt;
  if (!is_shared(instruction) || !instruction.has("global") || !is_immediate(instruction, kBytes))
    return std::nullopt;
  CopyForm form;
  form.bytes = static_cast<std::uint32_t>(operands[kBytes].bits);
  if (form.bytes != 4 && form.bytes != 8 && form.bytes != 16) return std::nullopt;
  Binding binding;
  binding.wide = {address_slot(function, operands[kTo]), address_slot(function, operands[kFrom]),
                  Slot::none};
  if (operands.size() == 4 + policy) {
    const Operand& fourth = operands[kFourth];
    const bool is_predicate = fourth.kind == Operand::Kind::reg &&
                              function.registers[static_cast<std::size_t>(fourth.reg)].type ==
                                  ptx::RegisterClass::predicate;
    form.source = is_predicate ? Source4::ignored : Source4::bytes;
    binding.wide.push_back(is_predicate ? Slot::predicate : Slot::b32);
  }
  if (policy != 0) binding.wide.push_back(Slot::none);
  binding.full = binding.masked = watch == Watch::nothing ? copy<false> : copy<true>;
  binding.pipe = Pipe::memory;
  binding.latency = 30;
  binding.form = bytes_of(form);
  return binding;
}

Binding group_binding(Handler handler, Watch watch, std::int32_t pending = 0) {
  Binding binding;
  binding.full = binding.masked = watch == Watch::nothing ? no_effect : handler;
  binding.pipe = Pipe::memory;
  binding.latency = 1;
  binding.aux = pending;
  return binding;
}

}  // namespace

std::optional<Binding> bind_copy(const ptx::Function& function, const Instruction& instruction,
                                 Watch watch) {
  if (instruction.opcode != "cp" || !instruction.has("async")) return std::nullopt;
  if (instruction.has("bulk") || instruction.has("mbarrier")) return std::nullopt;
  if (instruction.has("commit_group")) return group_binding(commit_group, watch);
  if (instruction.has("wait_all")) return group_binding(wait_all, watch);
  if (instruction.has("wait_group")) {
    if (!is_immediate(instruction, 0)) return std::nullopt;
    return group_binding(wait_group, watch,
                         static_cast<std::int32_t>(instruction.operands[0].bits));
  }
  return bind_one(function, instruction, watch);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
