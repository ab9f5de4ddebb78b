// Work in the order it was queued. It is done when the host waits for it, so that what happens is
// the same on every run; a stream that is full makes the host wait, as on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "result.hpp"

namespace made_up {

using Work = std::function<Result()>;

struct Graph {
  std::vector<Work> work;
};

struct Stream {
  Gpu* gpu = nullptr;
  bool waits_for_null_stream = true;  // not created with CU_STREAM_NON_BLOCKING
  std::vector<Work> queued;
  std::unique_ptr<Graph> capture;  // while capturing
};

struct Event {
  bool done = false;
  std::uint64_t at_ns = 0;
};

[[nodiscard]] Stream* make_stream(bool waits_for_null_stream);
void destroy(Stream* stream);
void destroy_all_streams();

// Queues work, or adds it to the graph being captured. A null stream means the default one.
[[nodiscard]] Result enqueue(Stream* stream, Work work);
// Does what is queued; a failure stays with the GPU.
[[nodiscard]] Result drain(Stream& stream);
// What a copy on the default stream waits for: streams that were not created otherwise.
[[nodiscard]] Result drain_for_null_stream();
[[nodiscard]] Result drain_all();

}  // namespace made_up
