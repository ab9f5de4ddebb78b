// Calls and returns. The lanes that call go on in a frame of their own; the warp's path waits in a
// split behind the call until all of them have returned or exited.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Handlers. Op::aux is the call's index in Program::calls.
std::int32_t call_function(Warp& warp, const Op& op, std::uint32_t mask);
// src[0]: 64-bit addresses. Lanes that call different functions do so one after another; they meet
// at the inserted op behind this one.
std::int32_t call_through_pointer(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t return_lanes(Warp& warp, const Op& op, std::uint32_t mask);

}  // namespace cudaopt::sim
