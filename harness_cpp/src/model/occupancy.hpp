// How many blocks of a launch an SM holds at once, and what limits it.
#pragma once

#include <cstdint>

#include "device.hpp"
#include "model/device_table.hpp"

namespace cudaopt::model {

// `blocks_per_sm` is 0 when not even one block fits; `limited_by` then names why.
[[nodiscard]] Occupancy occupancy(const DeviceTable& table, std::uint64_t threads_per_block,
                                  std::uint32_t registers_per_thread,
                                  std::uint64_t shared_bytes_per_block);

}  // namespace cudaopt::model
