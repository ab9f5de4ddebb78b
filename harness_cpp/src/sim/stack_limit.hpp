// How much of every thread's stack the calls of a kernel need, or may take where that has no bound.
#pragma once

#include <cstdint>

#include "sim/program.hpp"

namespace cudaopt::sim {

// What recursive calls may keep per thread: 32 times what CUDA grants unless asked for more.
inline constexpr std::uint32_t kRecursionBytes = 32 * 1024;

// What one call of the routine keeps: its registers and local memory, and the way back.
[[nodiscard]] std::uint32_t stack_bytes_of(const Routine& routine);

// The deepest chain of calls; with recursion or alloca, `kRecursionBytes` besides every routine
// once.
[[nodiscard]] std::uint32_t stack_limit(const Program& program, bool uses_alloca);

}  // namespace cudaopt::sim
