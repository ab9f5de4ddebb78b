#include "cuda/warm_up.hpp"

#include <algorithm>
#include <chrono>

namespace cudaopt::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// Few enough that slow kernels do not go on long after the time is over.
constexpr int kMostTogether = 4;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

int warm_up(const Stopwatch& stopwatch, const WarmupSpec& how,
            const std::function<Shot(int launch)>& shot) {
  // Loading code takes milliseconds of the host in which the GPU sleeps: they do not count.
  stopwatch.run({shot(0)});
  int launches = 1;
  const Clock::time_point start = Clock::now();
  while (launches < how.launches || ms_since(start) < how.ms) {
    const int missing = how.launches - launches;
    const int together = missing > 0 ? std::min(missing, kMostTogether) : kMostTogether;
    std::vector<Shot> shots;
    for (int i = 0; i < together; ++i) shots.push_back(shot(launches++));
    stopwatch.run(shots);
  }
  return launches;
}

}  // namespace cudaopt::cuda
