#include "sim/shadow_dependence.hpp"

#include <algorithm>

namespace cudaopt::sim {

using ptx::Operand;

ShadowDependence::ShadowDependence(const ShadowFormats& formats, std::size_t registers,
                                   const std::vector<PlacedOperands>& operands)
    : m_depends(registers, false) {
  for (std::size_t reg = 0; reg < m_depends.size(); ++reg)
    m_depends[reg] = formats.has_shadow(static_cast<std::int32_t>(reg));
  bool changed = true;
  while (changed) {
    changed = false;
    for (const PlacedOperands& each : operands) {
      const bool dependent = std::any_of(each.sources.begin(), each.sources.end(),
                                         [&](const Operand* source) { return depends(source); });
      if (!dependent) continue;
      for (const Operand* result : each.results) {
        const std::int32_t reg = register_of(result);
        if (reg < 0 || m_depends[static_cast<std::size_t>(reg)]) continue;
        m_depends[static_cast<std::size_t>(reg)] = changed = true;
      }
    }
  }
}

bool ShadowDependence::depends(const Operand* operand) const {
  const std::int32_t reg = register_of(operand);
  return reg >= 0 && depends(reg);
}

bool ShadowDependence::concerns(const ptx::Instruction& instruction,
                                const PlacedOperands& operands) const {
  const auto dependent = [&](const Operand* operand) { return depends(operand); };
  if (instruction.guard >= 0 && depends(instruction.guard)) return true;
  return std::any_of(operands.results.begin(), operands.results.end(), dependent) ||
         std::any_of(operands.sources.begin(), operands.sources.end(), dependent);
}

}  // namespace cudaopt::sim
