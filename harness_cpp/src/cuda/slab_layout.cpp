#include "cuda/slab_layout.hpp"

namespace cudaopt::cuda {
namespace {

// What cuMemAlloc gives in practice; a kernel should not run differently for being measured.
constexpr std::uint64_t kAlignment = 512;

std::uint64_t aligned_up(std::uint64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

SlabLayout slab_layout(const std::vector<BufferSpec>& owners) {
  SlabLayout layout;
  for (const BufferSpec& spec : owners) {
    layout.offsets[spec.name] = layout.content_bytes + spec.offset_bytes;
    layout.content_bytes = aligned_up(layout.content_bytes + spec.offset_bytes + spec.bytes);
    layout.footprint_bytes += spec.bytes;
  }
  return layout;
}

}  // namespace cudaopt::cuda
