#include "sim/program.hpp"

#include <algorithm>

namespace cudaopt::sim {

const ptx::Function& Program::function_at(std::int32_t pc) const {
  const auto behind = std::upper_bound(
      routines.begin(), routines.end(), pc,
      [](std::int32_t at, const Routine& routine) { return at < routine.first_pc; });
  return behind == routines.begin() ? *function : *std::prev(behind)->function;
}

const ptx::Instruction* Program::instruction_of(const Op& op) const {
  if (op.instruction < 0) return nullptr;
  return &function_at(op.pc).instructions[static_cast<std::size_t>(op.instruction)];
}

}  // namespace cudaopt::sim
