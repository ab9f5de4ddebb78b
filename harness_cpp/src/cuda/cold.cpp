#include "cuda/cold.hpp"

#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

constexpr int kEstimateSamples = 5;

}  // namespace

ColdArm::ColdArm(const Bench& bench, const Arm& arm)
    : m_bench(bench),
      m_plain(bench.context, arm.function, arm.spec, bench.images.pointers_in(slab(false))),
      m_shifted(bench.context, arm.function, arm.spec, bench.images.pointers_in(slab(true))) {}

Shot ColdArm::shot(const Draw& draw) const {
  Shot shot;
  shot.prepare = [this, draw] {
    m_bench.images.enqueue_restore(draw.content, slab(draw.shifted));
    m_bench.flush.enqueue();
  };
  shot.timed = [this, draw] { (draw.shifted ? m_shifted : m_plain).enqueue(); };
  return shot;
}

Shot ColdArm::checked_shot(const Draw& draw, const SpotCheck& check) const {
  Shot checked = shot({check.content(), draw.shifted});
  checked.finish = [this, draw, &check] { check.enqueue_keep(slab(draw.shifted)); };
  return checked;
}

DevicePointer ColdArm::slab(bool shifted) const {
  return m_bench.slab->base() + (shifted ? kShiftBytes : 0);
}

double cold_estimate_ns(Bench& bench, const ColdArm& arm) {
  const std::vector<Shot> shots(kEstimateSamples, arm.shot({}));
  bench.flush.reset_persisting_lines();
  return median(bench.stopwatch.time(shots).elapsed_ns);
}

}  // namespace cudaopt::cuda
