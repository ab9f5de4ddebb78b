// A timing event, owned. Made once per measurement: making one takes as long as a small kernel.
#pragma once

#include <cmath>

#include "cuda/context.hpp"

namespace cudaopt::cuda {

class Event {
 public:
  explicit Event(const Context& context) : m_context(&context) {
    CUDAOPT_CUDA(context.driver(), event_create, &m_event, 0);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { m_context->driver()->event_destroy(m_event); }

  void enqueue() const {
    CUDAOPT_CUDA(m_context->driver(), event_record, m_event, m_context->stream());
  }

  // Both must have happened. The driver subtracts whole nanoseconds and answers milliseconds as a
  // float32; rounding gives the nanoseconds back for up to 8 ms.
  [[nodiscard]] double elapsed_ns_since(const Event& start) const {
    float elapsed_ms = 0;
    CUDAOPT_CUDA(m_context->driver(), event_elapsed_ms, &elapsed_ms, start.m_event, m_event);
    return std::round(static_cast<double>(elapsed_ms) * 1e6);
  }

 private:
  const Context* m_context;
  EventHandle m_event = nullptr;
};

}  // namespace cudaopt::cuda
