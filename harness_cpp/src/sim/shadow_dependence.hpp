// Which registers have values that come from a float's shadow, or from what one decided.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/placed_operands.hpp"
#include "sim/shadow_formats.hpp"

namespace cudaopt::sim {

class ShadowDependence {
 public:
  // `operands` by instruction.
  ShadowDependence(const ShadowFormats& formats, std::size_t registers,
                   const std::vector<PlacedOperands>& operands);

  [[nodiscard]] bool depends(std::int32_t reg) const {
    return m_depends[static_cast<std::size_t>(reg)];
  }
  [[nodiscard]] bool depends(const ptx::Operand* operand) const;
  // Whether its guard, an operand or a result does.
  [[nodiscard]] bool concerns(const ptx::Instruction& instruction,
                              const PlacedOperands& operands) const;

 private:
  std::vector<bool> m_depends;  // by register
};

}  // namespace cudaopt::sim
