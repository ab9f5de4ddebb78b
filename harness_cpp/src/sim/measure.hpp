// Runs a sample of a launch's blocks under the tracer and asks the model for the latency.
#pragma once

#include "device.hpp"
#include "model/latency.hpp"
#include "sim/block.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim {

// Memory changes as the sampled blocks change it: the caller puts it back. `by_line` asks for the
// counters of each source line too.
[[nodiscard]] Measurement measure_launch(Launch& launch, RunSlice run_slice,
                                         const model::DeviceTable& table, model::LaunchShape shape,
                                         unsigned threads, bool by_line);

}  // namespace cudaopt::sim
