#include "cuda/sampling_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

constexpr double kBatchNs = 200'000, kBatchTicks = 1000;
constexpr std::uint64_t kMostLaunches = 1000, kMostCopies = 128;
// An L2 does not replace strictly the oldest line, so more than twice its size must pass.
constexpr std::uint64_t kL2Multiple = 5;
constexpr std::uint64_t kMemoryShare = 5;
constexpr std::uint64_t kMostPlaces = 32, kPlacesMemoryShare = 8;

std::uint64_t divided_up(std::uint64_t value, std::uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

std::uint64_t launches_of(double launch_ns, double tick_ns) {
  const double wanted = std::ceil(std::max(kBatchNs, kBatchTicks * tick_ns) / launch_ns);
  // Written so that a launch of no measurable time gets the most.
  if (!(wanted < static_cast<double>(kMostLaunches))) return kMostLaunches;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
}

std::uint64_t copies_of(std::uint64_t launches, const BatchNeeds& needs) {
  if (needs.footprint_bytes == 0) return 1;
  const std::uint64_t flushing =
      divided_up(kL2Multiple * needs.l2_bytes, needs.footprint_bytes) + 1;
  const std::uint64_t fitting = needs.free_bytes / kMemoryShare / needs.copy_bytes;
  return std::min({flushing, launches, kMostCopies, fitting});
}

}  // namespace

int place_count(std::uint64_t slab_bytes, std::uint64_t free_bytes) {
  const std::uint64_t fitting =
      free_bytes / kPlacesMemoryShare / std::max<std::uint64_t>(1, slab_bytes);
  return static_cast<int>(std::clamp<std::uint64_t>(fitting, 1, kMostPlaces));
}

Draw draw_of(int launch, const std::vector<int>& others) {
  Draw draw;
  draw.shifted = launch % 2 == 1;
  draw.place = launch / 2;
  if (launch % 3 == 2 && !others.empty()) {
    draw.content = others[static_cast<std::size_t>(launch / 3) % others.size()];
  }
  return draw;
}

bool is_enough(const std::vector<double>& samples_ns, const MeasureSpec& how) {
  const auto at_least = [&](int count) {
    return samples_ns.size() >= static_cast<std::size_t>(std::max(count, 1));
  };
  if (!at_least(how.samples)) return false;
  if (how.relative_error <= 0 || at_least(how.max_samples)) return true;
  return relative_error_of_median(samples_ns) < how.relative_error;
}

int next_block_samples(std::size_t taken, const MeasureSpec& how) {
  const int so_far = static_cast<int>(taken);
  const int goal = so_far < how.samples ? how.samples : how.max_samples;
  return std::clamp(goal - so_far, 1, kBlockSamples);
}

BatchPlan plan_batch(double launch_ns, const BatchNeeds& needs) {
  std::uint64_t launches = launches_of(launch_ns, needs.tick_ns);
  const std::uint64_t copies = copies_of(launches, needs);
  // Each copy the same number of times, so that none weighs more.
  if (copies > 0) {
    const std::uint64_t even = divided_up(launches, copies) * copies;
    if (even <= kMostLaunches) launches = even;
  }
  return {static_cast<int>(launches), static_cast<int>(copies)};
}

bool leaves_l2(const BatchPlan& plan, const BatchNeeds& needs) {
  if (needs.footprint_bytes == 0) return true;
  return static_cast<std::uint64_t>(plan.copies) * needs.footprint_bytes >=
         kL2Multiple * needs.l2_bytes;
}

std::vector<std::size_t> arm_order(int block, std::size_t arms) {
  std::vector<std::size_t> order(arms);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (block % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace cudaopt::cuda
