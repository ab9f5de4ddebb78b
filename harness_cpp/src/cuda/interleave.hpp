// Several kernels timed side by side, so that what the GPU does in between is the same for all.
#pragma once

#include <vector>

#include "cuda/context.hpp"
#include "cuda/measure.hpp"
#include "cuda/memory.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

[[nodiscard]] InterleavedTiming interleave(const Context& context, const Memory& memory,
                                           const std::vector<Arm>& arms, const InterleaveSpec& how);

}  // namespace cudaopt::cuda
