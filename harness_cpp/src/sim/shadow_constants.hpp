// What the shadow must know of a kernel's constants.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/placed_operands.hpp"
#include "sim/shadow_rule.hpp"

namespace cudaopt::sim {

class ShadowConstants {
 public:
  // `operands` by instruction.
  ShadowConstants(const ptx::Function& function, const std::vector<PlacedOperands>& operands);

  // Whether one mov of an immediate defines the register.
  [[nodiscard]] bool is_constant(std::int32_t reg) const {
    return m_constants[static_cast<std::size_t>(reg)].has_value();
  }
  // The 2^23 trick: an addend so large that the sum has no fraction.
  [[nodiscard]] bool rounds_by_addition(const DescribedRule& rule,
                                        const PlacedOperands& operands) const;

 private:
  [[nodiscard]] bool is_magic_operand(const ptx::Operand& operand) const;

  std::vector<std::optional<std::uint32_t>> m_constants;  // by register
};

}  // namespace cudaopt::sim
