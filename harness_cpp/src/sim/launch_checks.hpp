// Refuses launches a GPU would refuse, and says which limit; lays out the parameter block.
#pragma once

#include <cstdint>
#include <vector>

#include "device.hpp"
#include "model/device_table.hpp"
#include "sim/device_memory.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// Throws Fault invalid_launch: sizes against the limits, and against what the kernel demands.
void check_shape(const LaunchSpec& spec, const Program& program, const DeviceLimits& limits);

// Throws Fault invalid_launch for a cooperative launch of more blocks than `table` holds at once.
void check_cooperative(const LaunchSpec& spec, const Program& program, const Resources& resources,
                       const model::DeviceTable& table, const DeviceLimits& limits);

// How many blocks of the launch `table`'s GPU runs at once, at least 1.
[[nodiscard]] std::uint64_t resident_blocks(const LaunchSpec& spec, const Program& program,
                                            const Resources& resources,
                                            const model::DeviceTable& table);

// The bytes the kernel finds in its parameter memory. Throws Fault invalid_launch naming the
// parameter whose argument does not fit.
[[nodiscard]] std::vector<std::uint8_t> parameter_block(const LaunchSpec& spec,
                                                        const Program& program,
                                                        const DeviceMemory& memory);

}  // namespace cudaopt::sim
