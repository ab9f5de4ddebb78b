// The clock a multiprocessor really ran at between two points of the stream: a time means little
// without it where clocks cannot be locked.
#pragma once

#include <memory>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"

namespace cudaopt::cuda {

class SmClock {
 public:
  explicit SmClock(const Context& context);

  void enqueue_start() const;
  void enqueue_end() const;
  // Between the last start and end, which must have happened; 0 if no block ran on SM 0.
  [[nodiscard]] double mhz() const;

 private:
  void enqueue(std::uint64_t slot) const;

  const Context& m_context;
  FunctionHandle m_clock = nullptr;
  std::unique_ptr<Allocation> m_slots;
};

}  // namespace cudaopt::cuda
