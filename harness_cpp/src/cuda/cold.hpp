// Cold samples: before each launch its buffers are restored and the L2 is emptied.
#pragma once

#include <vector>

#include "cuda/bench.hpp"
#include "cuda/kernel.hpp"
#include "cuda/sampling_plan.hpp"
#include "cuda/spot_check.hpp"

namespace cudaopt::cuda {

// Launches of one kernel on the bench's memory.
class ColdArm {
 public:
  ColdArm(const Bench& bench, const Images& images, const Arm& arm);

  [[nodiscard]] Shot shot(const Draw& draw) const;
  // The same, on the contents that `check` is about, and its outputs are kept.
  [[nodiscard]] Shot checked_shot(const Draw& draw, const SpotCheck& check) const;

 private:
  struct Place {
    DevicePointer slab = 0;
    KernelLaunch launch;
  };
  [[nodiscard]] const Place& place_of(const Draw& draw) const;

  const Bench& m_bench;
  const Images& m_images;
  SymbolWrites m_symbols;
  std::vector<Place> m_places;  // of the bench, each plain and shifted
};

// The median of a few samples on contents 0.
[[nodiscard]] double cold_estimate_ns(Bench& bench, const ColdArm& arm);

}  // namespace cudaopt::cuda
