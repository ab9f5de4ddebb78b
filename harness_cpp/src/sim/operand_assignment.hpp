// Gives an op the slots of its instruction's operands, as the binding of its handler asks for them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/module.hpp"
#include "sim/entry_layout.hpp"
#include "sim/memory_form.hpp"
#include "sim/operand_slots.hpp"
#include "sim/parameter_places.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

class OperandAssignment {
 public:
  // `wide` takes the operands of instructions that have more than an Op holds.
  OperandAssignment(const ptx::Function& function, const EntryLayout& layout,
                    const ParameterPlaces& places, OperandSlots& slots,
                    std::vector<WideOperands>& wide)
      : m_function(function), m_layout(layout), m_places(places), m_slots(slots), m_wide(wide) {}

  // False: they are not what the binding takes, so the instruction is of a form that was taken for
  // another. `form`: of a load or store.
  [[nodiscard]] bool assign(const ptx::Instruction& instruction,
                            const std::optional<MemoryForm>& form, const Binding& binding, Op& op);

  // nullopt: no such value, or none of this width. `narrow`: without upper bits; `moved`: by mov.
  [[nodiscard]] std::optional<std::int32_t> source(const ptx::Operand& operand, Slot width,
                                                   bool narrow, bool moved = false);

 private:
  // Of a kernel's parameter, known at launch.
  [[nodiscard]] bool assign_parameter(const ptx::Instruction& instruction, const MemoryForm& form,
                                      const Binding& binding, Op& op);
  // Of a call's parameter, among the registers.
  [[nodiscard]] bool assign_words(const ptx::Instruction& instruction, const MemoryForm& form,
                                  const Binding& binding, Op& op);
  [[nodiscard]] bool assign_flat(const ptx::Instruction& instruction, const Binding& binding,
                                 Op& op);
  [[nodiscard]] bool assign_wide(const ptx::Instruction& instruction, const Binding& binding,
                                 Op& op);
  [[nodiscard]] bool assign_wide_source(const ptx::Operand& operand, WideOperand& to, Op& op);
  [[nodiscard]] bool destination(const ptx::Operand& operand, Slot width, std::int32_t& to);
  [[nodiscard]] bool assign_source(const ptx::Instruction& instruction, const ptx::Operand& operand,
                                   Slot width, std::size_t index, Op& op);

  const ptx::Function& m_function;
  const EntryLayout& m_layout;
  const ParameterPlaces& m_places;
  OperandSlots& m_slots;
  std::vector<WideOperands>& m_wide;
};

}  // namespace cudaopt::sim
