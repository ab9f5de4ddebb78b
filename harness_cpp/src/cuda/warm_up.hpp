// Launches before the first sample: they load code, fill the TLB and wake the clocks, which a few
// short launches do not.
#pragma once

#include <functional>
#include <vector>

#include "cuda/stopwatch.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// Runs `loading`, the shots that make code load, then `shot(0)`, `shot(1)`, ... until there were
// `how.launches` of both together and `how.ms` have passed since the code is loaded; returns their
// number.
int warm_up(const Stopwatch& stopwatch, const WarmupSpec& how, const std::vector<Shot>& loading,
            const std::function<Shot(int launch)>& shot);

}  // namespace cudaopt::cuda
