// Device memory filled with a repeated pattern of any length.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/context.hpp"

namespace cudaopt::cuda {

// Queues `bytes` bytes from `to` on being filled with `pattern`, which starts at `to`; none: zeros.
void fill_async(const Context& context, DevicePointer to, std::uint64_t bytes,
                const std::vector<std::uint8_t>& pattern);

}  // namespace cudaopt::cuda
