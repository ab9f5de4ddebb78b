#include "cuda/sampling.hpp"

#include "cuda/sampling_plan.hpp"
#include "statistics.hpp"

namespace cudaopt::cuda {

Sampling sample(Bench& bench, const MeasureSpec& how, const std::function<Shot(int sample)>& shot,
                std::vector<double>& sm_clock_mhz) {
  Sampling sampling;
  std::vector<double>& samples_ns = sampling.samples_ns;
  while (!is_enough(samples_ns, how)) {
    const int first = static_cast<int>(samples_ns.size());
    const int end = first + next_block_samples(samples_ns.size(), how);
    std::vector<Shot> shots;
    for (int i = first; i < end; ++i) shots.push_back(shot(i));
    const TimedBlock block = bench.stopwatch.time(shots);
    samples_ns.insert(samples_ns.end(), block.elapsed_ns.begin(), block.elapsed_ns.end());
    sm_clock_mhz.push_back(block.sm_clock_mhz);
  }
  sampling.median_ns = median(samples_ns);
  return sampling;
}

}  // namespace cudaopt::cuda
