// Empties the L2 between launches, so that a timed launch finds its inputs in DRAM.
#pragma once

#include <memory>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"

namespace cudaopt::cuda {

class L2Flush {
 public:
  explicit L2Flush(const Context& context);

  // Queues reading twice the L2. Reading, as a memset would leave dirty lines whose write-back the
  // timed launch then pays for: 66.3 instead of 60.9 us for 200 MB on an H200.
  void enqueue() const;
  // Queues taking from these lines the priority that a kernel may have asked the L2 to keep them
  // with: they would outlive a flush. Not cuCtxResetPersistingL2Cache: from its eighth call on
  // every launch in a graph takes 0.18 us longer (952 and 1130 ns), until another context has had
  // the GPU (H200, driver 580).
  void enqueue_demotion(DevicePointer slab, std::uint64_t bytes) const;

 private:
  [[nodiscard]] unsigned most_blocks() const;

  const Context& m_context;
  FunctionHandle m_read = nullptr;
  FunctionHandle m_demote = nullptr;  // null where no line can persist
  std::uint64_t m_bytes = 0;
  std::unique_ptr<Allocation> m_memory;  // and behind `m_bytes` of it the sink
};

}  // namespace cudaopt::cuda
