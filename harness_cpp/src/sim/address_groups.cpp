#include "sim/address_groups.hpp"

#include <algorithm>

#include "ptx/control_flow.hpp"

namespace cudaopt::sim {
namespace {

std::int32_t base_register(const ptx::Instruction& instruction) {
  const ptx::Operand& address = instruction.operands[instruction.opcode == "st" ? 0 : 1];
  const ptx::Operand& base = address.elements[0];
  return base.kind == ptx::Operand::Kind::reg ? base.reg : -1;
}

}  // namespace

void AddressGroups::assign(const ptx::Instruction& instruction, const MemoryForm& form, Op& op) {
  const std::int32_t base = base_register(instruction);
  const std::uint32_t bytes = form.element_bytes * form.elements;
  for (const Group& group : m_groups) {
    if (group.base != base || group.space != form.space || group.bytes != bytes) continue;
    op.memo = group.memo;
    op.same_base = true;
    return;
  }
  op.memo = static_cast<std::int32_t>(m_patterns++);
  // A guarded instruction may be skipped, and then has compared nothing for those behind it.
  if (base >= 0 && instruction.guard < 0) m_groups.push_back({base, form.space, bytes, op.memo});
}

void AddressGroups::forget_written(const ptx::Instruction& instruction) {
  for (const std::int32_t index : ptx::written_operands(instruction)) {
    forget(instruction.operands[static_cast<std::size_t>(index)]);
  }
}

void AddressGroups::forget(const ptx::Operand& operand) {
  if (operand.kind == ptx::Operand::Kind::reg) {
    m_groups.erase(std::remove_if(m_groups.begin(), m_groups.end(),
                                  [&](const Group& group) { return group.base == operand.reg; }),
                   m_groups.end());
  }
  for (const ptx::Operand& element : operand.elements) forget(element);
}

}  // namespace cudaopt::sim
