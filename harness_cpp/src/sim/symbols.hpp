// Variables of a loaded module that become what buffers hold, before a launch.
#pragma once

#include "device.hpp"
#include "sim/device_memory.hpp"
#include "sim/module_image.hpp"

namespace cudaopt::sim {

// Throws Fault unknown_entry for a variable that the module has not, invalid_launch for another
// size.
void write_symbols(const LaunchSpec& spec, ModuleImage& image, DeviceMemory& memory);

}  // namespace cudaopt::sim
