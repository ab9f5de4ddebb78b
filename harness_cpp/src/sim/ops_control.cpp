// Instructions that steer: exit, barriers, trap. Branches, calls and returns are decode's own.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/barrier.hpp"
#include "sim/block.hpp"
#include "sim/control.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using ptx::Instruction;

std::int32_t no_effect(Warp&, const Op& op, std::uint32_t) { return op.pc + 1; }

// cooperative_groups traps where a grid shall wait and was given no memory to do so in.
std::string advice(const Launch& launch) {
  const std::vector<SpecialSlot>& specials = launch.program->specials;
  const bool may_wait = std::any_of(specials.begin(), specials.end(), [](const SpecialSlot& slot) {
    return slot.which == Special::grid_workspace_low;
  });
  if (!may_wait || launch.grid_workspace != 0) return "";
  return "; a grid can wait for itself only in a cooperative launch: add 'cooperative' to @launch";
}

std::int32_t trap(Warp& warp, const Op& op, std::uint32_t mask) {
  FaultDetail detail;
  detail.kind = FaultKind::trap;
  detail.message = "kernel '" + warp.launch->program->function->name + "' stopped itself (trap)" +
                   advice(*warp.launch);
  fail(warp, op, __builtin_ctz(mask), std::move(detail));
}

Binding control(Handler handler) {
  Binding binding;
  binding.full = binding.masked = handler;
  binding.pipe = Pipe::control;
  return binding;
}

std::optional<BarrierKind> barrier_kind(const Instruction& instruction) {
  if (instruction.has("sync")) return BarrierKind::sync;
  if (instruction.has("arrive")) return BarrierKind::arrive;
  if (!instruction.has("red")) return std::nullopt;
  if (instruction.has("popc")) return BarrierKind::popc;
  if (instruction.has("and")) return BarrierKind::all;
  return BarrierKind::any;
}

std::optional<Binding> bind_barrier(const Instruction& instruction) {
  const auto kind = barrier_kind(instruction);
  if (!kind || instruction.has("cluster") || instruction.has("warp")) return std::nullopt;
  const bool reduces = *kind >= BarrierKind::popc;
  const std::size_t fixed = reduces ? 3 : 1;  // result, barrier, predicate
  if (instruction.operands.size() < fixed || instruction.operands.size() > fixed + 1) {
    return std::nullopt;
  }
  const bool has_count = instruction.operands.size() == fixed + 1;
  Binding binding = control(reach_barrier);
  std::size_t next = 0;
  binding.src[next++] = Slot::b32;
  if (has_count) binding.src[next++] = Slot::b32;
  if (reduces) {
    binding.src[next] = Slot::predicate;
    binding.dst[0] = *kind == BarrierKind::popc ? Slot::b32 : Slot::predicate;
  }
  const bool aligned = instruction.opcode == "bar" || instruction.has("aligned");
  binding.aux = barrier_aux(*kind, has_count, aligned);
  return binding;
}

}  // namespace

std::optional<Binding> bind_control(const ptx::Function&, const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "exit") return control(exit_lanes);
  if (opcode == "bar" || opcode == "barrier") return bind_barrier(instruction);
  if (opcode == "trap") return control(trap);
  if (opcode == "nanosleep") return control(no_effect);  // time does not pass here
  return std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
