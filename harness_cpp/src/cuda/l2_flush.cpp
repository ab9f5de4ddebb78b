#include "cuda/l2_flush.hpp"

#include <algorithm>

#include "cuda/fill.hpp"
#include "cuda/helper_kernels.hpp"

namespace cudaopt::cuda {
namespace {

constexpr Result kNotSupported = 801;  // GPUs before compute capability 8.0: no such lines
constexpr std::uint64_t kVectorBytes = 16, kSinkBytes = 256;
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
  // The reading kernel relies on zeros.
  fill_async(context, m_memory->base(), m_bytes + kSinkBytes, {});
}

void L2Flush::enqueue() const {
  enqueue_helper(m_context, m_read, kBlocksPerMultiprocessor * m_context.facts().multiprocessors,
                 kThreads, {m_memory->base(), m_bytes / kVectorBytes, m_memory->base() + m_bytes});
}

void L2Flush::reset_persisting_lines() const {
  const Result result = m_context.driver()->context_reset_persisting_l2();
  if (result == kNotSupported) return;
  m_context.driver().check_own_work(result, "context_reset_persisting_l2");
}

}  // namespace cudaopt::cuda
