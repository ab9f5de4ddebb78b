// The operands of one instruction, flattened as decode flattens them, by what it does with them.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"

namespace cudaopt::sim {

struct PlacedOperands {
  std::vector<const ptx::Operand*> results, sources;
};

[[nodiscard]] PlacedOperands place(const ptx::Instruction& instruction);

// The register an operand reads or writes, -1 if none; of an address, its base.
[[nodiscard]] std::int32_t register_of(const ptx::Operand* operand);

}  // namespace cudaopt::sim
