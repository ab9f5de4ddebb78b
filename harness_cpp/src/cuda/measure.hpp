// The recipe for a time one can believe; see PROTOCOL.md, "measure".
#pragma once

#include "cuda/context.hpp"
#include "cuda/memory.hpp"
#include "cuda/symbols.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// A kernel to time.
struct Arm {
  FunctionHandle function = nullptr;
  LaunchSpec spec;
  SymbolWrites symbols{};
};

// Leaves every buffer as it was. Throws the Fault a launch ends in, or out_of_memory.
[[nodiscard]] Timing measure(const Context& context, const Memory& memory, const Arm& arm,
                             const MeasureSpec& how);

}  // namespace cudaopt::cuda
