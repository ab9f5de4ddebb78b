// What launches with a shadow left behind: values of a buffer, and the worst instruction.
#pragma once

#include <optional>
#include <string>

#include "device.hpp"
#include "sim/device_memory.hpp"
#include "sim/launch_shadow.hpp"

namespace cudaopt::sim {

// Throws Fault invalid_request for a dtype that is no float, or does not divide the buffer.
[[nodiscard]] ShadowValues read_shadow(const DeviceMemory& memory, const MemoryShadow& shadow,
                                       const std::string& buffer, const std::string& dtype);

[[nodiscard]] std::optional<RoundingLoss> rounding_loss(const Launch& launch,
                                                        const LaunchShadow& shadow);

}  // namespace cudaopt::sim
