// Shared memory keeps what the last kernel left there, often zeros: a kernel that reads before it
// writes is right by luck. This ends the luck.
#pragma once

#include "cuda/context.hpp"

namespace cudaopt::cuda {

// Queues a launch that fills every multiprocessor's shared memory with NaNs.
void dirty_shared_memory(const Context& context);

}  // namespace cudaopt::cuda
