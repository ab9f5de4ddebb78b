// Finds memory instructions of a basic block that use one base register, unchanged between them:
// their addresses differ by constants only, so they share an address pattern.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"
#include "sim/machine.hpp"
#include "sim/memory_form.hpp"

namespace cudaopt::sim {

class AddressGroups {
 public:
  // Numbers patterns from `first` on.
  explicit AddressGroups(std::uint32_t first) : m_patterns(first) {}

  void begin_block() { m_groups.clear(); }

  // Sets `memo` and `same_base` of the op for this load or store.
  void assign(const ptx::Instruction& instruction, const MemoryForm& form, Op& op);

  // Ends the groups whose register the instruction writes.
  void forget_written(const ptx::Instruction& instruction);

  [[nodiscard]] std::uint32_t patterns() const { return m_patterns; }

 private:
  struct Group {
    std::int32_t base = -1;
    ptx::Space space = ptx::Space::none;
    std::uint32_t bytes = 0;  // of one lane's access: cost depends on it
    std::int32_t memo = -1;
  };

  void forget(const ptx::Operand& operand);

  std::vector<Group> m_groups;
  std::uint32_t m_patterns;
};

}  // namespace cudaopt::sim
