// Launches before the first sample: they load code, fill the TLB and wake the clocks, which a few
// short launches do not.
#pragma once

#include <functional>

#include "cuda/stopwatch.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// Runs `shot(0)`, `shot(1)`, ... until there were `how.launches`, for `how.ms` since the first one,
// and at least one; returns their number.
int warm_up(const Stopwatch& stopwatch, const WarmupSpec& how,
            const std::function<Shot(int launch)>& shot);

}  // namespace cudaopt::cuda
