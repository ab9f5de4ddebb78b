#include "sim/operand_assignment.hpp"

#include <algorithm>
#include <cstring>

#include "ptx/flat_operands.hpp"
#include "sim/clock.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is_narrow_type(std::string_view type) {
  return type.size() >= 3 && type.substr(type.size() - 2) == "16";
}

// Immediates of 16-bit operations carry no upper bits, like the registers beside them.
bool is_narrow_source(const Instruction& instruction, std::size_t source) {
  if (!is_narrow_type(instruction.type())) return false;
  const bool wide_addend = instruction.has("wide") && source == 2;
  return !wide_addend;
}

// `moved`: by mov, of which ptxas takes the bits as they are written.
std::uint64_t immediate_bits(const Operand& operand, Slot width, bool narrow, bool moved) {
  if (operand.float_width == 32 && width == Slot::b64 && !moved) {
    float single;
    const auto bits = static_cast<std::uint32_t>(operand.bits);
    std::memcpy(&single, &bits, sizeof single);
    const double wide = single;
    std::uint64_t wide_bits;
    std::memcpy(&wide_bits, &wide, sizeof wide_bits);
    return wide_bits;
  }
  return narrow ? operand.bits & 0xffff : operand.bits;
}

}  // namespace

bool OperandAssignment::assign(const Instruction& instruction,
                               const std::optional<MemoryForm>& form, const Binding& binding,
                               Op& op) {
  if (form && form->parameter_by_name) return assign_parameter(instruction, *form, binding, op);
  if (form && form->parameter_words) return assign_words(instruction, *form, binding, op);
  if (!binding.wide.empty()) return assign_wide(instruction, binding, op);
  return assign_flat(instruction, binding, op);
}

bool OperandAssignment::assign_parameter(const Instruction& instruction, const MemoryForm& form,
                                         const Binding& binding, Op& op) {
  std::vector<const Operand*> values;
  flatten(instruction.operands[0], values);
  const Operand& address = instruction.operands[1];
  const auto base = m_layout.address_of(m_function, address.elements[0].name);
  if (!base) return false;
  const auto start = static_cast<std::int64_t>(*base) + address.offset + address.elements[0].offset;
  if (start < 0 || start + form.element_bytes * form.elements > m_function.parameter_bytes)
    return false;
  for (std::size_t k = 0; k < form.elements; ++k) {
    ParameterSlot slot;
    slot.width = binding.dst[k];
    slot.from =
        static_cast<std::uint32_t>(start) + static_cast<std::uint32_t>(k) * form.element_bytes;
    slot.bytes = form.element_bytes;
    slot.extension = form.extension;
    op.src[k] = m_slots.parameter(slot);
    if (!destination(*values[k], binding.dst[k], op.dst[k])) return false;
  }
  return true;
}

bool OperandAssignment::assign_words(const Instruction& instruction, const MemoryForm& form,
                                     const Binding& binding, Op& op) {
  const bool store = instruction.opcode == "st";
  const Operand& address = instruction.operands[store ? 0 : 1];
  const ParameterWords* place = m_places.find(address.elements[0].name);
  if (place == nullptr) return false;
  const std::int64_t start = address.offset + address.elements[0].offset;
  const std::uint32_t bytes = form.element_bytes;
  if (start < 0 || start + bytes * form.elements > place->words() * 4 ||
      start % std::min(bytes, 4u) != 0) {
    return false;
  }
  op.imm = start;
  std::vector<const Operand*> values;
  flatten(instruction.operands[store ? 1 : 0], values);
  for (std::size_t k = 0; k < form.elements; ++k) {
    const std::int64_t word = (start + static_cast<std::int64_t>(k * bytes)) / 4;
    (store ? op.dst[k] : op.src[k]) = place->offset + static_cast<std::int32_t>(word) * kLanes * 4;
    if (!store && !destination(*values[k], binding.dst[k], op.dst[k])) return false;
    if (!store) continue;
    const auto value = source(*values[k], binding.src[k], false);
    if (!value) return false;
    op.src[k] = *value;
  }
  return true;
}

bool OperandAssignment::assign_flat(const Instruction& instruction, const Binding& binding,
                                    Op& op) {
  std::vector<const Operand*> operands;
  for (const Operand& operand : instruction.operands) flatten(operand, operands);
  std::size_t next = 0;
  for (std::size_t k = 0; k < binding.dst.size(); ++k) {
    if (binding.dst[k] == Slot::none) continue;
    if (next == operands.size()) return false;
    if (!destination(*operands[next++], binding.dst[k], op.dst[k])) return false;
  }
  for (std::size_t k = 0; k < binding.src.size(); ++k) {
    if (binding.src[k] == Slot::none) continue;
    if (next == operands.size()) return false;
    if (!assign_source(instruction, *operands[next++], binding.src[k], k, op)) return false;
  }
  // An operand nobody reads belongs to a form that was taken for another. A cache policy directs
  // what does not exist here, and instructions without effect read nothing; nor is a clock a
  // slot.
  const bool policy = instruction.has("L2::cache_hint");
  const bool clock = reads_clock(op);
  return next == 0 || next + policy + clock == operands.size();
}

bool OperandAssignment::assign_wide(const Instruction& instruction, const Binding& binding,
                                    Op& op) {
  std::vector<const Operand*> operands;
  for (const Operand& operand : instruction.operands) flatten(operand, operands);
  if (operands.size() != binding.wide.size()) return false;
  WideOperands wide;
  wide.form = binding.form;
  wide.operands.resize(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    WideOperand& to = wide.operands[k];
    to.width = binding.wide[k];
    if (to.width == Slot::none) continue;
    const bool assigned = k < binding.wide_results ? destination(*operands[k], to.width, to.slot)
                                                   : assign_wide_source(*operands[k], to, op);
    if (!assigned) return false;
  }
  op.aux = static_cast<std::int32_t>(m_wide.size());
  m_wide.push_back(std::move(wide));
  return true;
}

// The last address stands in the op too, for whoever looks at memory instructions from outside.
bool OperandAssignment::assign_wide_source(const Operand& operand, WideOperand& to, Op& op) {
  const Operand* value = &operand;
  if (operand.kind == Operand::Kind::address) {
    if (operand.elements.size() != 1) return false;
    value = &operand.elements[0];
    to.displacement = operand.offset;
  }
  to.negated = value->negated;
  const auto slot = source(*value, to.width, false);
  if (!slot) return false;
  to.slot = *slot;
  if (operand.kind == Operand::Kind::address) {
    op.src[0] = to.slot;
    op.imm = to.displacement;
    op.address = to.width;
  }
  return true;
}

bool OperandAssignment::destination(const Operand& operand, Slot width, std::int32_t& to) {
  if (operand.kind == Operand::Kind::sink) {
    to = m_slots.sink(width);
    return true;
  }
  if (operand.kind != Operand::Kind::reg) return false;
  const auto slot = m_slots.register_slot(operand.reg, width);
  if (slot) to = *slot;
  return slot.has_value();
}

bool OperandAssignment::assign_source(const Instruction& instruction, const Operand& operand,
                                      Slot width, std::size_t index, Op& op) {
  const Operand* value = &operand;
  if (operand.kind == Operand::Kind::address) {
    if (operand.elements.size() != 1) return false;
    op.imm = operand.offset;
    op.address = width;
    value = &operand.elements[0];
  }
  if (value->negated) op.src_negated = static_cast<std::uint8_t>(op.src_negated | 1u << index);
  const auto slot =
      source(*value, width, is_narrow_source(instruction, index), instruction.opcode == "mov");
  if (slot) op.src[index] = *slot;
  return slot.has_value();
}

std::optional<std::int32_t> OperandAssignment::source(const Operand& operand, Slot width,
                                                      bool narrow, bool moved) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return m_slots.register_slot(operand.reg, width);
    case Operand::Kind::immediate:
      return m_slots.constant(immediate_bits(operand, width, narrow, moved), width);
    case Operand::Kind::special:
      return m_slots.special(operand.name, width);
    case Operand::Kind::sink:
      return m_slots.sink(width);
    case Operand::Kind::symbol: {
      if (!m_function.entry) {
        const NamedRange* local = m_layout.locals(m_function).find(operand.name);
        if (local != nullptr) return m_slots.local(*local, operand.offset, width);
      }
      const auto address = m_layout.address_of(m_function, operand.name);
      if (!address) return std::nullopt;
      return m_slots.constant(*address + static_cast<std::uint64_t>(operand.offset), width);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim
