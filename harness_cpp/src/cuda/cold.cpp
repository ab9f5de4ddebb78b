#include "cuda/cold.hpp"

#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

constexpr int kEstimateSamples = 5;

}  // namespace

ColdArm::ColdArm(const Bench& bench, const Images& images, const Arm& arm)
    : m_bench(bench), m_images(images), m_symbols(arm.symbols) {
  for (const DevicePointer place : bench.places) {
    for (const std::uint64_t shift : {std::uint64_t{0}, kShiftBytes}) {
      const DevicePointer slab = place + shift;
      m_places.push_back(
          {slab, KernelLaunch(bench.context, arm.function, arm.spec, images.pointers_in(slab))});
    }
  }
}

Shot ColdArm::shot(const Draw& draw) const {
  Shot shot;
  const Place& place = place_of(draw);
  shot.prepare = [this, draw, &place] {
    m_images.enqueue_restore(draw.content, place.slab);
    m_symbols.enqueue(m_bench.context);
    m_bench.flush.enqueue();
  };
  shot.timed = [&place] { place.launch.enqueue(); };
  shot.finish = [this, &place] { m_bench.enqueue_demotion(place.slab); };
  return shot;
}

Shot ColdArm::checked_shot(const Draw& draw, const SpotCheck& check) const {
  Shot checked = shot({check.content(), draw.place, draw.shifted});
  const DevicePointer slab = place_of(draw).slab;
  checked.finish = [this, slab, &check] {
    check.enqueue_keep(slab);
    m_bench.enqueue_demotion(slab);
  };
  return checked;
}

const ColdArm::Place& ColdArm::place_of(const Draw& draw) const {
  const std::size_t place = static_cast<std::size_t>(draw.place) % m_bench.places.size();
  return m_places[2 * place + (draw.shifted ? 1 : 0)];
}

double cold_estimate_ns(Bench& bench, const ColdArm& arm) {
  const std::vector<Shot> shots(kEstimateSamples, arm.shot({}));
  return median(bench.stopwatch.time(shots).elapsed_ns);
}

}  // namespace cudaopt::cuda
