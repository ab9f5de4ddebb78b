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

int warm_up(const Stopwatch& stopwatch, const WarmupSpec& how, const std::vector<Shot>& loading,
            const std::function<Shot(int launch)>& shot) {
  // Loading code takes milliseconds of the host in which the GPU sleeps: they do not count.
  stopwatch.run(loading);
  const Clock::time_point start = Clock::now();
  int launches = static_cast<int>(loading.size()), next = 0;
  while (launches < how.launches || ms_since(start) < how.ms) {
    const int missing = how.launches - launches;
    const int together = missing > 0 ? std::min(missing, kMostTogether) : kMostTogether;
    std::vector<Shot> shots;
    for (int i = 0; i < together; ++i) shots.push_back(shot(next++));
    stopwatch.run(shots);
    launches += together;
  }
  return launches;
}

}  // namespace cudaopt::cuda
