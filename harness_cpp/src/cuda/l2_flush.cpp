#include "cuda/l2_flush.hpp"

#include <algorithm>

#include "cuda/fill.hpp"
#include "cuda/helper_kernels.hpp"

namespace cudaopt::cuda {
namespace {

constexpr std::uint64_t kVectorBytes = 16, kSinkBytes = 256, kLineBytes = 128;
// Where the driver does not say the size of the L2.
constexpr std::uint64_t kLeastBytes = 16 << 20;
// Enough reads in flight to reach the DRAM's bandwidth.
constexpr unsigned kThreads = 256, kBlocksPerMultiprocessor = 8;

}  // namespace

L2Flush::L2Flush(const Context& context)
    : m_context(context),
      m_read(context.helper(kReadKernel)),
      m_bytes(std::max(2 * context.facts().gpu.value().l2_bytes, kLeastBytes)),
      m_memory(allocate_plain(context, m_bytes + kSinkBytes, "flushing the L2 between launches")) {
  if (has_demote_kernel(context.compute_capability_major())) {
    m_demote = context.helper(kDemoteKernel);
  }
  // The reading kernel relies on zeros.
  fill_async(context, m_memory->base(), m_bytes + kSinkBytes, {});
}

void L2Flush::enqueue() const {
  enqueue_helper(m_context, m_read, most_blocks(), kThreads,
                 {m_memory->base(), m_bytes / kVectorBytes, m_memory->base() + m_bytes});
}

void L2Flush::enqueue_demotion(DevicePointer slab, std::uint64_t bytes) const {
  const std::uint64_t lines = bytes / kLineBytes;
  if (m_demote == nullptr || lines == 0) return;
  const std::uint64_t blocks = (lines + kThreads - 1) / kThreads;
  enqueue_helper(m_context, m_demote,
                 static_cast<unsigned>(std::min<std::uint64_t>(blocks, most_blocks())), kThreads,
                 {slab, lines});
}

unsigned L2Flush::most_blocks() const {
  return kBlocksPerMultiprocessor * m_context.facts().multiprocessors;
}

}  // namespace cudaopt::cuda
