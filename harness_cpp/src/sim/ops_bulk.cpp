// cp.async.bulk without a tensor map: a run of bytes between global and shared memory, copied at
// once, as if the engine were infinitely fast. A read that does not wait for the mbarrier is
// therefore not noticed. Also what concerns only caches, registers or other grids.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "sim/block_watch.hpp"
#include "sim/mbarrier_access.hpp"
#include "sim/ops.hpp"
#include "sim/scattered_access.hpp"
#include "sim/wide_operands.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

constexpr std::uint32_t kPiece = 16;  // addresses and sizes are multiples of it

struct BulkForm {
  Space to = Space::shared, from = Space::global;
  bool has_barrier = false;
};

enum : std::size_t { kTo, kFrom, kBytes, kBarrier };

void check_size(const Warp& warp, const Op& op, int lane, std::uint32_t bytes) {
  if (bytes % kPiece == 0) return;
  FaultDetail detail;
  detail.kind = FaultKind::misaligned;
  detail.bytes = bytes;
  detail.message = "a bulk copy moves " + std::to_string(bytes) +
                   " bytes, which is not a multiple of " + std::to_string(kPiece);
  fail(warp, op, lane, std::move(detail));
}

void count_run(Warp& warp, Space space, std::uint64_t address, std::uint32_t bytes,
               AccessKind kind) {
  for (std::uint32_t done = 0; done < bytes; done += kLanes * kPiece) {
    const std::uint32_t pieces = std::min<std::uint32_t>(kLanes, (bytes - done) / kPiece);
    Addresses addresses{};
    for (std::uint32_t i = 0; i < pieces; ++i) addresses.of[i] = address + done + i * kPiece;
    count_scattered(warp, addresses, space, kAllLanes >> (kLanes - pieces), kPiece, kind);
  }
}

// As accesses of the thread that asked for the copy.
void watch_piece(Warp& warp, const Op& op, Space space, std::uint64_t address, int lane,
                 AccessKind kind) {
  AccessShape shape;
  shape.elements = kPiece / shape.element_bytes;
  Addresses addresses{};
  addresses.of[lane] = address;
  warp.block->watch->access({warp, op, 1u << lane, space, addresses.of, kind, shape});
}

void copy_run(Warp& warp, const Op& op, const BulkForm& form, std::uint64_t to, std::uint64_t from,
              std::uint32_t bytes, int lane) {
  check_size(warp, op, lane, bytes);
  for (std::uint32_t done = 0; done < bytes; done += kPiece) {
    const std::uint8_t* source =
        resolve(warp, op, form.from, from + done, kPiece, lane, AccessKind::load);
    std::uint8_t* target = resolve(warp, op, form.to, to + done, kPiece, lane, AccessKind::store);
    std::memcpy(target, source, kPiece);
    if (warp.launch->watch == nullptr) continue;
    watch_piece(warp, op, form.from, from + done, lane, AccessKind::load);
    watch_piece(warp, op, form.to, to + done, lane, AccessKind::store);
  }
  count_run(warp, form.from, from, bytes, AccessKind::load);
  count_run(warp, form.to, to, bytes, AccessKind::store);
}

std::int32_t bulk_copy(Warp& warp, const Op& op, std::uint32_t mask) {
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<BulkForm>(wide);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint32_t bytes = lanes_of<std::uint32_t>(warp, wide.operands[kBytes])[lane];
    copy_run(warp, op, form, address_of(warp, wide.operands[kTo], lane),
             address_of(warp, wide.operands[kFrom], lane), bytes, lane);
    if (!form.has_barrier) continue;
    const std::uint64_t at = address_of(warp, wide.operands[kBarrier], lane);
    MbarrierAccess barrier(warp, op, Space::shared, at, lane);
    Mbarrier now = barrier.read();
    now.bytes -= static_cast<std::int32_t>(bytes);
    barrier.write(now.settled());
    if (warp.launch->watch != nullptr) warp.block->watch->phase_arrived(warp, at);
  }
  return op.pc + 1;
}

bool has_word(const Instruction& instruction, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return instruction.has(word); });
}

// A copy to a cluster's shared memory goes to the own block's: clusters are not executed.
std::optional<Binding> bind_run(const ptx::Function& function, const Instruction& instruction) {
  if (has_word(instruction, {"tensor", "multicast::cluster", "cp_mask"})) return std::nullopt;
  const bool to_shared = has_word(instruction, {"shared::cluster", "shared::cta"}) &&
                         instruction.has("mbarrier::complete_tx::bytes");
  const bool to_global = instruction.has("shared::cta") && instruction.has("bulk_group");
  if (to_shared == to_global || !instruction.has("global")) return std::nullopt;
  BulkForm form;
  form.has_barrier = to_shared;
  if (to_global) std::swap(form.to, form.from);
  const std::vector<Operand>& operands = instruction.operands;
  const std::size_t count = to_shared ? 4 : 3, policy = instruction.has("L2::cache_hint") ? 1 : 0;
  if (operands.size() != count + policy) return std::nullopt;
  Binding binding;
  binding.full = binding.masked = bulk_copy;
  binding.pipe = Pipe::memory;
  binding.latency = 30;
  binding.form = bytes_of(form);
  binding.wide = {address_slot(function, operands[kTo]), address_slot(function, operands[kFrom]),
                  Slot::b32};
  if (to_shared) binding.wide.push_back(address_slot(function, operands[kBarrier]));
  if (policy != 0) binding.wide.push_back(Slot::none);
  return binding;
}

std::int32_t no_effect(Warp&, const Op& op, std::uint32_t) { return op.pc + 1; }

// Copies are there at once, so their groups have nothing to wait for; proxies see the same memory;
// a grid runs alone; nobody runs out of registers.
bool has_no_effect(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "cp") return has_word(instruction, {"commit_group", "wait_group", "prefetch"});
  if (opcode == "fence") return has_word(instruction, {"mbarrier_init", "proxy", "proxy::async"});
  return opcode == "griddepcontrol" || opcode == "setmaxnreg";
}

}  // namespace

std::optional<Binding> bind_bulk(const ptx::Function& function, const Instruction& instruction,
                                 Watch) {
  const bool is_copy = instruction.opcode == "cp";
  if (is_copy && (!instruction.has("async") || !instruction.has("bulk"))) return std::nullopt;
  if (has_no_effect(instruction)) {
    Binding binding;
    binding.full = binding.masked = no_effect;
    binding.pipe = Pipe::control;
    return binding;
  }
  return is_copy ? bind_run(function, instruction) : std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
