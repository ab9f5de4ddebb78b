// The resolution of events, which NVIDIA documents as about 500 ns and recent GPUs better by far.
#pragma once

#include "cuda/context.hpp"
#include "cuda/stopwatch.hpp"

namespace cudaopt::cuda {

// The smallest difference between the times of a few empty kernels; 0 if all are equal. Takes a few
// milliseconds.
[[nodiscard]] double event_tick_ns(const Context& context, Stopwatch& stopwatch);

}  // namespace cudaopt::cuda
