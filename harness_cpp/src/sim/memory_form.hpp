// What a load or store instruction asks for, read from its modifiers and registers.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.hpp"
#include "sim/memory_order.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

struct MemoryForm {
  ptx::Space space = ptx::Space::none;  // none: generic
  std::uint32_t element_bytes = 4;
  std::uint32_t elements = 1;  // 2 or 4 in vector forms
  Extension extension = Extension::none;
  bool wide_address = true;        // the base register has 64 bits
  bool parameter_by_name = false;  // ld.param of an entry's parameter: known at launch
  MemoryOrder order;
  bool parameter_words = false;  // of a call: among the registers
};

// nullopt: a form this device does not know (cache-hint operands, cluster memory, v8, ...).
[[nodiscard]] std::optional<MemoryForm> memory_form(const ptx::Function& function,
                                                    const ptx::Instruction& instruction);

// Op::aux of memory instructions.
[[nodiscard]] static inline std::int32_t memory_aux(const MemoryForm& form) {
  return static_cast<std::int32_t>(form.extension) | static_cast<std::int32_t>(form.space) << 8 |
         shape_bits({form.order, form.element_bytes, form.elements, true});
}
[[nodiscard]] static inline Extension extension_of(const Op& op) {
  return static_cast<Extension>(op.aux & 0xff);
}
[[nodiscard]] static inline ptx::Space space_of(const Op& op) {
  return static_cast<ptx::Space>(op.aux >> 8 & 0xff);
}

}  // namespace cudaopt::sim
