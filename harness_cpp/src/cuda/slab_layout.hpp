// Where buffers lie in one stretch of memory that holds a copy of them all, so that restoring them
// is one copy. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device.hpp"

namespace cudaopt::cuda {

// How far a shifted launch's buffers are from the others': enough to be other addresses, and the
// alignment that cudaMalloc promises stays.
inline constexpr std::uint64_t kShiftBytes = 256;

struct SlabLayout {
  std::map<std::string, std::uint64_t> offsets;  // of each buffer's first byte
  std::uint64_t content_bytes = 0;
  std::uint64_t footprint_bytes = 0;  // of the buffers alone
  // With room for the shift, and so that the next slab is aligned like this one.
  [[nodiscard]] std::uint64_t slab_bytes() const { return content_bytes + 2 * kShiftBytes; }
};

// Each pointer is a multiple of 512 plus the buffer's offset_bytes. No alias may be among them.
[[nodiscard]] SlabLayout slab_layout(const std::vector<BufferSpec>& owners);

}  // namespace cudaopt::cuda
