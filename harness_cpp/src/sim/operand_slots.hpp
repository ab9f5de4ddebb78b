// Turns operands into offsets in a warp's register file. Immediates, special registers and kernel
// parameters get slots that are filled before the kernel starts, so handlers know one kind of
// source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "ptx/control_flow.hpp"
#include "ptx/module.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

class OperandSlots {
 public:
  // Fills `frame` with what the slots need: sizes, constants, special registers, parameters.
  OperandSlots(const ptx::Function& function, const ptx::SlotAssignment& assignment,
               FrameLayout& frame);

  // nullopt: the register is not as wide as the instruction wants it.
  [[nodiscard]] std::optional<std::int32_t> register_slot(std::int32_t reg, Slot width) const;
  [[nodiscard]] std::int32_t predicate(std::int32_t reg) const;
  [[nodiscard]] std::int32_t constant(std::uint64_t bits, Slot width);
  // nullopt: a special register this device does not have.
  [[nodiscard]] std::optional<std::int32_t> special(std::string_view name, Slot width);
  [[nodiscard]] std::int32_t parameter(const ParameterSlot& wanted);
  // The address of a local variable plus bytes.
  [[nodiscard]] std::int32_t local(const NamedRange& variable, std::int64_t offset, Slot width);
  // A row of `count` words of 32 bits.
  [[nodiscard]] std::int32_t words(std::uint32_t count);
  // Somewhere to write what nobody reads.
  [[nodiscard]] std::int32_t sink(Slot width);

 private:
  [[nodiscard]] std::int32_t allocate(Slot width);
  [[nodiscard]] std::int32_t constant_predicate(bool value);

  const ptx::Function& m_function;
  const ptx::SlotAssignment& m_assignment;
  FrameLayout& m_frame;
  std::map<std::pair<Slot, std::uint64_t>, std::int32_t> m_constants;
  std::map<std::pair<Slot, Special>, std::int32_t> m_specials;
  std::map<Slot, std::int32_t> m_sinks;
  std::map<bool, std::int32_t> m_constant_predicates;
};

}  // namespace cudaopt::sim
