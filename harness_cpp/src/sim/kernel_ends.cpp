#include "sim/kernel_ends.hpp"

#include <algorithm>

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool leads_nowhere_else(const ptx::BasicBlock& block, const std::vector<bool>& returning) {
  return std::all_of(block.successors.begin(), block.successors.end(), [&](std::int32_t next) {
    return next == ptx::kExit || returning[static_cast<std::size_t>(next)];
  });
}

std::vector<int> times_written(const ptx::Function& function) {
  std::vector<int> times(function.registers.size(), 0);
  for (const Instruction& instruction : function.instructions) {
    for (const std::int32_t index : ptx::written_operands(instruction)) {
      const Operand& operand = instruction.operands[static_cast<std::size_t>(index)];
      if (operand.kind == Operand::Kind::reg) ++times[static_cast<std::size_t>(operand.reg)];
      for (const Operand& element : operand.elements) {
        if (element.kind == Operand::Kind::reg) ++times[static_cast<std::size_t>(element.reg)];
      }
    }
  }
  return times;
}

// Reads no memory and waits for nobody.
bool only_computes(const Instruction& instruction) {
  static constexpr std::string_view kOthers[] = {"atom", "red",  "bar",   "barrier", "call",
                                                 "shfl", "vote", "match", "trap",    "cp"};
  if (instruction.opcode == "ld") return instruction.has("param");
  return std::find(std::begin(kOthers), std::end(kOthers), instruction.opcode) == std::end(kOthers);
}

bool stores_what_differs(const Instruction& instruction, const std::vector<int>& times) {
  if (instruction.opcode != "st" || instruction.operands.size() < 2) return false;
  const auto differs = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::reg && times[static_cast<std::size_t>(operand.reg)] > 1;
  };
  const Operand& value = instruction.operands.back();
  return differs(value) || std::any_of(value.elements.begin(), value.elements.end(), differs);
}

bool is_merged_end(const ptx::Function& function, const ptx::BasicBlock& block,
                   const std::vector<int>& times) {
  bool differs = false;
  for (std::int32_t i = block.first; i < block.end; ++i) {
    const Instruction& instruction = function.instructions[static_cast<std::size_t>(i)];
    if (!only_computes(instruction)) return false;
    differs = differs || stores_what_differs(instruction, times);
  }
  return differs;
}

}  // namespace

std::vector<bool> kernel_ends(const ptx::Function& function, const ptx::ControlFlow& flow,
                              const std::vector<bool>& returning) {
  std::vector<bool> ends = returning;
  const std::vector<int> times = times_written(function);
  for (std::size_t i = 0; i < flow.blocks.size(); ++i) {
    if (ends[i] || !leads_nowhere_else(flow.blocks[i], returning)) continue;
    ends[i] = is_merged_end(function, flow.blocks[i], times);
  }
  return ends;
}

}  // namespace cudaopt::sim
