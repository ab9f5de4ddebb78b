// How many samples, of what, and how many launches make one: the choices of a measurement, without
// a GPU. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "device.hpp"

namespace cudaopt::cuda {

// What one launch works on: the number of its contents, where in memory its buffers are (one of
// `place_count` places, in turn), and whether they are shifted there.
struct Draw {
  int content = 0;
  int place = 0;
  bool shifted = false;
};

// Where memory is, physically, moves the time of a launch by half a percent, and no two requests
// get the same (60 us, H200): launches take turns over up to 32 places, as far as they fit an
// eighth of the free memory.
[[nodiscard]] int place_count(std::uint64_t slab_bytes, std::uint64_t free_bytes);

// Two launches of three have contents 0, the third one of `others` in turn; every second launch is
// shifted, and every two go to the next place. A kernel that remembers answers by address or by
// order cannot have the right one.
[[nodiscard]] Draw draw_of(int launch, const std::vector<int>& others);

// Of samples between two readings of the SM clock.
inline constexpr int kBlockSamples = 20;

// Whether the stop rule of `how` is met.
[[nodiscard]] bool is_enough(const std::vector<double>& samples_ns, const MeasureSpec& how);
// How many samples to take next, where that is not so.
[[nodiscard]] int next_block_samples(std::size_t taken, const MeasureSpec& how);

// Below this, a launch between two events is mostly the events.
inline constexpr double kBatchBelowNs = 10'000;

struct BatchNeeds {
  double tick_ns = 0;  // of the events
  std::uint64_t l2_bytes = 0;
  std::uint64_t footprint_bytes = 0;  // of the buffers of one launch
  std::uint64_t copy_bytes = 0;       // what a copy of them takes
  std::uint64_t free_bytes = 0;
};

struct BatchPlan {
  int launches = 1;  // in one graph
  int copies = 1;    // of the buffers; 0: not even one fits
};

// Launches that take 200 us and 1000 ticks together, at most 1000, on copies that together have 5
// times the L2, as far as they are of use and fit a fifth of the free memory.
[[nodiscard]] BatchPlan plan_batch(double launch_ns, const BatchNeeds& needs);
// Whether a launch finds nothing in the L2 of what the last launch on its copy left there.
[[nodiscard]] bool leaves_l2(const BatchPlan& plan, const BatchNeeds& needs);

// The order in which a block times its arms: as given and reversed in turn (ABBA), which cancels a
// drift of the clock.
[[nodiscard]] std::vector<std::size_t> arm_order(int block, std::size_t arms);

}  // namespace cudaopt::cuda
