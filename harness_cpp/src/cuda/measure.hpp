// The recipe for a time one can believe; see PROTOCOL.md, "measure".
#pragma once

#include "cuda/context.hpp"
#include "cuda/memory.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// A kernel to time. It is loaded several times, and samples take turns: where its code lies moves
// the time of a short launch by 1 % (3 us, H200).
struct Arm {
  std::vector<FunctionHandle> loaded;
  LaunchSpec spec;
  [[nodiscard]] FunctionHandle function(std::size_t turn) const {
    return loaded[turn % loaded.size()];
  }
};

inline constexpr std::size_t kTimesLoaded = 8;

// Leaves every buffer as it was. Throws the Fault a launch ends in, or out_of_memory.
[[nodiscard]] Timing measure(const Context& context, const Memory& memory, const Arm& arm,
                             const MeasureSpec& how);

}  // namespace cudaopt::cuda
