// Operands of an instruction that has more than an Op holds, as lanes. Included by ops files only.
#pragma once

#include "sim/alu.hpp"
#include "sim/block.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

CUDAOPT_INLINE const WideOperands& wide_operands(const Warp& warp, const Op& op) {
  return warp.launch->program->wide_operands[static_cast<std::size_t>(op.aux)];
}

// A handler's form on its way through the binding.
template <class F>
[[nodiscard]] FormBytes bytes_of(const F& form) {
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= sizeof(FormBytes));
  FormBytes bytes{};
  std::memcpy(bytes.data(), &form, sizeof form);
  return bytes;
}

template <class F>
[[nodiscard]] F form_of(const WideOperands& wide) {
  F form;
  std::memcpy(&form, wide.form.data(), sizeof form);
  return form;
}

template <class T>
CUDAOPT_INLINE LanePointer<T> lanes_of(Warp& warp, const WideOperand& operand) {
  return lane_pointer<T>(warp, operand.slot);
}

CUDAOPT_INLINE std::uint64_t address_of(Warp& warp, const WideOperand& operand, int lane) {
  const auto displacement = static_cast<std::uint64_t>(operand.displacement);
  if (operand.width == Slot::b64)
    return lanes_of<std::uint64_t>(warp, operand)[lane] + displacement;
  return static_cast<std::uint32_t>(lanes_of<std::uint32_t>(warp, operand)[lane] + displacement);
}

// How wide the register of an address operand is; symbols and numbers fit into any.
[[nodiscard]] inline Slot address_slot(const ptx::Function& function, const ptx::Operand& address) {
  const bool is_register =
      !address.elements.empty() && address.elements[0].kind == ptx::Operand::Kind::reg;
  if (!is_register) return Slot::b64;
  const auto index = static_cast<std::size_t>(address.elements[0].reg);
  return function.registers[index].type == ptx::RegisterClass::b64 ? Slot::b64 : Slot::b32;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
