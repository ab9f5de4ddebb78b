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
  // Lines that a kernel asked to persist outlive a flush. Not ordered with the stream: to be called
  // while it is idle.
  void reset_persisting_lines() const;

 private:
  const Context& m_context;
  FunctionHandle m_read = nullptr;
  std::uint64_t m_bytes = 0;
  std::unique_ptr<Allocation> m_memory;  // and behind `m_bytes` of it the sink
};

}  // namespace cudaopt::cuda
