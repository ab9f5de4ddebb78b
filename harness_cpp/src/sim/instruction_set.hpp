// The compiled handler sets by name.
#pragma once

#include "isa.hpp"
#include "sim/ops.hpp"
#include "sim/shadow.hpp"

namespace cudaopt::sim {

struct InstructionSet {
  Bind bind = nullptr;
  RunSlice run_slice = nullptr;
  BindShadow bind_shadow = nullptr;
};

[[nodiscard]] InstructionSet instruction_set(Isa isa);

}  // namespace cudaopt::sim
