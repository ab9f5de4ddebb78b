#include "sim/shadow_constants.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Operand;

// 1.5 * 2^23 and 2^23, and the few numbers above them that code adds to round to an integer.
bool is_magic(std::uint32_t bits) {
  const std::uint32_t size = bits & 0x7fffffffu;
  return (size >= 0x4b400000u && size < 0x4b400100u) || (size >= 0x4b000000u && size < 0x4b000100u);
}

}  // namespace

ShadowConstants::ShadowConstants(const ptx::Function& function,
                                 const std::vector<PlacedOperands>& operands)
    : m_constants(function.registers.size()) {
  std::vector<int> writes(function.registers.size(), 0);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (const Operand* result : operands[i].results) {
      const std::int32_t reg = register_of(result);
      if (reg < 0) continue;
      const auto index = static_cast<std::size_t>(reg);
      const std::vector<const Operand*>& sources = operands[i].sources;
      const bool constant = function.instructions[i].opcode == "mov" && sources.size() == 1 &&
                            sources[0]->kind == Operand::Kind::immediate;
      m_constants[index] = constant && writes[index] == 0
                               ? std::optional(static_cast<std::uint32_t>(sources[0]->bits))
                               : std::nullopt;
      ++writes[index];
    }
  }
}

bool ShadowConstants::is_magic_operand(const Operand& operand) const {
  if (operand.kind == Operand::Kind::immediate)
    return is_magic(static_cast<std::uint32_t>(operand.bits));
  const std::int32_t reg = register_of(&operand);
  return reg >= 0 && m_constants[static_cast<std::size_t>(reg)] &&
         is_magic(*m_constants[static_cast<std::size_t>(reg)]);
}

bool ShadowConstants::rounds_by_addition(const DescribedRule& rule,
                                         const PlacedOperands& operands) const {
  if (!(rule.from == Numbers{Number::f32, 1})) return false;
  const auto& sources = operands.sources;
  if (rule.rule == ShadowRule::fused) return is_magic_operand(*sources[2]);
  const bool sum = rule.rule == ShadowRule::add || rule.rule == ShadowRule::subtract;
  return sum && (is_magic_operand(*sources[0]) || is_magic_operand(*sources[1]));
}

}  // namespace cudaopt::sim
