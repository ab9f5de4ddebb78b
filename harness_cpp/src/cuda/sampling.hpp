// Samples, block after block, until there are enough.
#pragma once

#include <functional>
#include <vector>

#include "cuda/bench.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// Times `shot(0)`, `shot(1)`, ... until the stop rule of `how` is
// met; appends each block's SM clock to `sm_clock_mhz`.
[[nodiscard]] Sampling sample(Bench& bench, const MeasureSpec& how,
                              const std::function<Shot(int sample)>& shot,
                              std::vector<double>& sm_clock_mhz);

}  // namespace cudaopt::cuda
