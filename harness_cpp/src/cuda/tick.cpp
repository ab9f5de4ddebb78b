#include "cuda/tick.hpp"

#include "cuda/helper_kernels.hpp"
#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

// Enough pairs that two of them differ by one tick, short of what a stream takes at once.
constexpr int kPairs = 64, kMostKernels = 8;

}  // namespace

double event_tick_ns(const Context& context, Stopwatch& stopwatch) {
  const FunctionHandle empty = context.helper(kEmptyKernel);
  std::vector<Shot> shots;
  for (int i = 0; i < kPairs; ++i) {
    const int kernels = i % kMostKernels;
    Shot shot;
    shot.timed = [&context, empty, kernels] {
      for (int k = 0; k < kernels; ++k) enqueue_helper(context, empty, 1, 32, {});
    };
    shots.push_back(shot);
  }
  stopwatch.run({shots.back()});
  return smallest_step(stopwatch.time(shots).elapsed_ns);
}

}  // namespace cudaopt::cuda
