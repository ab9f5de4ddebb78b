// Refuses launches a GPU would refuse, and says which limit; lays out the parameter block.
#pragma once

#include <cstdint>
#include <vector>

#include "device.hpp"
#include "sim/device_memory.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// Throws Fault invalid_launch: sizes against the limits, and against what the kernel demands.
void check_shape(const LaunchSpec& spec, const Program& program, const DeviceLimits& limits);

// The bytes the kernel finds in its parameter memory. Throws Fault invalid_launch naming the
// parameter whose argument does not fit.
[[nodiscard]] std::vector<std::uint8_t> parameter_block(const LaunchSpec& spec,
                                                        const Program& program,
                                                        const DeviceMemory& memory);

}  // namespace cudaopt::sim
