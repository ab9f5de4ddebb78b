// Device memory as the kernel sees it: global allocations far apart, one window each for shared,
// local and constant memory in the generic address space. Every access is resolved here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Allocations sit 2^40 bytes apart: no plausible stray pointer lands in a neighbour.
inline constexpr std::uint64_t kGlobalStride = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1}
                                               << 32;  // generic address of shared 0
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 32;
inline constexpr std::uint64_t kConstantWindow = std::uint64_t{3} << 32;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{4} << 32;
inline constexpr std::uint64_t kFunctionWindow = std::uint64_t{5} << 32;  // no memory

// Memory nobody has written yet: as floats, NaN; as indices, out of every range.
inline constexpr int kUnwritten = 0xff;

struct Allocation {
  std::uint64_t base = 0;  // device address of byte 0 the kernel may touch
  std::uint64_t bytes = 0;
  std::uint8_t* host = nullptr;  // of `base`
  bool read_only = false;
  bool has_contents = false;  // given some, or written by an earlier launch
  std::uint32_t element_bytes = 1;
  std::string name;
};

// The space an address without one lies in.
[[nodiscard]] ptx::Space space_of_generic(std::uint64_t address);

enum class AccessKind : std::uint8_t { load, store, atomic };

// Host address of the first byte of one thread's local memory.
[[nodiscard]] std::uint8_t* local_memory(const Warp& warp, int lane);

// Host address of `bytes` bytes at `address` for one lane, or a Fault naming array, element and
// lane. `space` none means generic: the window decides. `address` is the full effective address.
[[nodiscard]] std::uint8_t* resolve(Warp& warp, const Op& op, ptx::Space space,
                                    std::uint64_t address, std::uint32_t bytes, int lane,
                                    AccessKind kind);

}  // namespace cudaopt::sim
