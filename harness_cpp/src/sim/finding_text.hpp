// The words of which the messages of findings are made.
#pragma once

#include <string>

#include "device.hpp"
#include "sim/watched_array.hpp"

namespace cudaopt::sim {

// "tile[7]"
[[nodiscard]] std::string place_text(const ArrayPlace& place);

// FaultDetail::access of an instruction, by its text; `reads` of those that are no atomics.
[[nodiscard]] const char* access_name(const std::string& instruction, bool reads);

// "reads", of an access name.
[[nodiscard]] std::string verb(const std::string& access);

// " at hist.cu:31", or "" without line information.
[[nodiscard]] std::string line_of(const OtherParty& other);

}  // namespace cudaopt::sim
