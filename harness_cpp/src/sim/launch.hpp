// Runs the blocks of one launch over host threads. Counters and faults are the same for any number
// of threads.
#pragma once

#include <cstdint>
#include <functional>

#include "device.hpp"
#include "sim/block.hpp"
#include "sim/ops.hpp"
#include "sim/worker.hpp"

namespace cudaopt::sim {

// Calls `run` for every index below `count`, each once, on one worker per host thread, and returns
// what the workers counted. Throws what the call of the lowest failing index threw. Kernels whose
// blocks need their order get one worker.
Counters for_each_block(Launch& launch, RunSlice run_slice, unsigned threads, std::uint64_t count,
                        const std::function<void(Worker&, std::uint64_t)>& run);

// Throws the Fault of the lowest block that has one, or, of blocks that may wait for each other or
// shall run in another order, the first. These run on one thread.
[[nodiscard]] Counters run_launch(Launch& launch, RunSlice run_slice, unsigned threads);

}  // namespace cudaopt::sim
