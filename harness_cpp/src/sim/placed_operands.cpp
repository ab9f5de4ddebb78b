#include "sim/placed_operands.hpp"

#include <algorithm>

#include "ptx/control_flow.hpp"
#include "ptx/flat_operands.hpp"

namespace cudaopt::sim {

using ptx::Operand;

PlacedOperands place(const ptx::Instruction& instruction) {
  const std::vector<std::int32_t> written = ptx::written_operands(instruction);
  PlacedOperands placed;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const bool result =
        std::find(written.begin(), written.end(), static_cast<std::int32_t>(i)) != written.end();
    flatten(instruction.operands[i], result ? placed.results : placed.sources);
  }
  return placed;
}

std::int32_t register_of(const Operand* operand) {
  if (operand == nullptr) return -1;
  if (operand->kind == Operand::Kind::reg) return operand->reg;
  const bool based = operand->kind == Operand::Kind::address && !operand->elements.empty();
  return based ? register_of(&operand->elements[0]) : -1;
}

}  // namespace cudaopt::sim
