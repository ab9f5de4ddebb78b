#include "cuda/spot_check.hpp"

#include <algorithm>
#include <random>

namespace cudaopt::cuda {
namespace {

// Not a seeded generator: the choice must not be known to what is timed.
int random_below(int count) {
  std::random_device source;
  return std::uniform_int_distribution<int>(0, std::max(count, 1) - 1)(source);
}

}  // namespace

SpotCheck::SpotCheck(const Context& context, const Images& images, int content, int samples)
    : m_context(context),
      m_images(images),
      m_content(content),
      m_sample(random_below(samples)),
      m_kept(allocate_plain(context, images.layout().slab_bytes(),
                            "keeping the outputs of a timed launch")) {}

void SpotCheck::enqueue_keep(DevicePointer slab) const {
  const std::uint64_t bytes = m_images.layout().content_bytes;
  if (bytes == 0) return;
  CUDAOPT_CUDA(m_context.driver(), copy_on_device_async, m_kept->base(), slab, bytes,
               m_context.stream());
}

Captured SpotCheck::captured(const Memory& memory, const std::vector<std::string>& buffers,
                             SamplingMode mode) const {
  Captured captured;
  captured.mode = mode;
  captured.sample = m_sample;
  const PointerOf pointer_of = m_images.pointers_in(m_kept->base());
  for (const std::string& name : buffers) {
    std::vector<std::uint8_t>& bytes = captured.outputs[name];
    bytes.resize(memory.find(name).spec.bytes);
    if (bytes.empty()) continue;
    CUDAOPT_CUDA(m_context.driver(), copy_to_host, bytes.data(), pointer_of(name), bytes.size());
  }
  return captured;
}

}  // namespace cudaopt::cuda
