// What every way of timing needs: the instruments, the contents, and memory for launches to work
// on.
#pragma once

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
  // For the buffers that `arms` name, and those of `others`.
  Bench(const Context& context, const Memory& memory, const std::vector<Arm>& arms,
        const std::vector<std::string>& others);

  const Context& context;
  const Memory& memory;
  Stopwatch stopwatch;
  L2Flush flush;
  Images images;
  std::vector<DevicePointer> places;  // slabs that launches take turns over
  double tick_ns = 0;                 // the events' resolution

 private:
  std::unique_ptr<Allocation> m_slabs;
};

}  // namespace cudaopt::cuda
