// What every way of timing needs: the instruments, the contents, and memory for launches to work
// on.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"
#include "cuda/images.hpp"
#include "cuda/l2_flush.hpp"
#include "cuda/measure.hpp"
#include "cuda/memory.hpp"
#include "cuda/stopwatch.hpp"

namespace cudaopt::cuda {

struct Bench {
  // For the buffers that each of `arms` names, and those of `others`.
  Bench(const Context& context, const Memory& memory, const std::vector<Arm>& arms,
        const std::vector<std::string>& others);

  const Context& context;
  const Memory& memory;
  Stopwatch stopwatch;
  L2Flush flush;
  // What each arm starts from. Arms that differ in the names of their outputs alone have theirs at
  // the same addresses: where an output lies moves a short launch by 1 % (3 us, H200).
  std::deque<Images> images;
  std::vector<DevicePointer> places;  // slabs that launches take turns over
  double tick_ns = 0;                 // the events' resolution

  [[nodiscard]] std::uint64_t slab_bytes() const;
  // Queues nothing of `slab` being kept in the L2 longer than other lines.
  void enqueue_demotion(DevicePointer slab) const;
  // Whether memory restored for one arm serves all.
  [[nodiscard]] bool arms_start_alike() const;

 private:
  std::unique_ptr<Allocation> m_slabs;
};

}  // namespace cudaopt::cuda
