// The keys that say which kernel runs, in which shape, with which arguments.
#pragma once

#include "protocol/request.hpp"

namespace cudaopt::protocol {

// Reads the keys of a launch; `step` may have others, which are its owner's to read or reject.
[[nodiscard]] LaunchSpec parse_launch(Object& step, const Request& request);

}  // namespace cudaopt::protocol
