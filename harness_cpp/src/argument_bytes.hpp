// What a kernel gets of its arguments, the same on every device: their bytes, and which buffers
// they point to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device.hpp"

namespace cudaopt {

// The bytes in memory order; `address_of` says where a buffer is for this launch.
[[nodiscard]] std::vector<std::uint8_t> argument_bytes(
    const Argument& argument,
    const std::function<std::uint64_t(const std::string& buffer)>& address_of);

// Every buffer that arguments, and members of structs among them, point to; in their order.
[[nodiscard]] std::vector<std::string> buffers_of(const std::vector<Argument>& arguments);

}  // namespace cudaopt
