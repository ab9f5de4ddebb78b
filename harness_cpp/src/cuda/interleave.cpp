#include "cuda/interleave.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "cuda/batch.hpp"
#include "cuda/bench.hpp"
#include "cuda/cold.hpp"
#include "cuda/sampling_plan.hpp"
#include "cuda/warm_up.hpp"
#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

// What sample `launch` of `arm` within `block` is.
using ShotOf = std::function<Shot(int block, std::size_t arm, int launch)>;

// Everything several kernels are timed with. Deques: the arms stay where they are.
class Interleaving {
 public:
  Interleaving(const Context& context, const Memory& memory, const std::vector<Arm>& arms,
               const InterleaveSpec& how)
      : m_arms(arms), m_how(how), m_bench(context, memory, arms, {}) {
    for (std::size_t i = 0; i < arms.size(); ++i) {
      m_cold.emplace_back(m_bench, m_bench.images[i], arms[i]);
    }
  }

  void warm_up();
  // None if the arms are to be timed cold.
  [[nodiscard]] std::optional<BatchPlan> plan();
  [[nodiscard]] InterleavedTiming time_cold();
  [[nodiscard]] InterleavedTiming time_batch(const BatchPlan& plan);

 private:
  [[nodiscard]] bool is_refused() const;
  [[nodiscard]] InterleavedTiming time_blocks(const ShotOf& shot_of);
  void time_block(int block, const ShotOf& shot_of, InterleavedTiming& timing);

  const std::vector<Arm>& m_arms;
  const InterleaveSpec& m_how;
  Bench m_bench;
  std::deque<ColdArm> m_cold;
};

void Interleaving::warm_up() {
  WarmupSpec all = m_how.warmup;
  all.launches = std::max(all.launches, 1) * static_cast<int>(m_arms.size());
  cuda::warm_up(m_bench.stopwatch, all, [this](int launch) {
    return m_cold[static_cast<std::size_t>(launch) % m_cold.size()].shot({});
  });
}

bool Interleaving::is_refused() const {
  if (!m_bench.arms_start_alike()) return true;
  return std::any_of(m_arms.begin(), m_arms.end(), [this](const Arm& arm) {
    return !batch_refusal(m_bench.memory, arm.spec).empty();
  });
}

// The slowest arm decides: a replay of the others is then no longer than needed.
std::optional<BatchPlan> Interleaving::plan() {
  if (m_how.mode == SamplingMode::cold || is_refused()) return std::nullopt;
  double slowest_cold_ns = 0, slowest_ns = 0;
  for (const ColdArm& arm : m_cold) {
    slowest_cold_ns = std::max(slowest_cold_ns, cold_estimate_ns(m_bench, arm));
  }
  if (m_how.mode == SamplingMode::automatic && slowest_cold_ns >= kBatchBelowNs) {
    return std::nullopt;
  }
  const BatchNeeds needs = batch_needs(m_bench);
  for (std::size_t i = 0; i < m_arms.size(); ++i) {
    const double launch_ns =
        graph_estimate_ns(m_bench, m_bench.images[i], m_arms[i], slowest_cold_ns);
    slowest_ns = std::max(slowest_ns, launch_ns);
  }
  const BatchPlan batch = plan_batch(slowest_ns, needs);
  if (!batch_refusal(batch, needs).empty()) return std::nullopt;
  return batch;
}

InterleavedTiming Interleaving::time_cold() {
  InterleavedTiming timing = time_blocks([this](int block, std::size_t arm, int launch) {
    return m_cold[arm].shot(draw_of(block * m_how.launches + launch, {}));
  });
  timing.mode = SamplingMode::cold;
  return timing;
}

InterleavedTiming Interleaving::time_batch(const BatchPlan& plan) {
  const BatchCopies copies(m_bench, plan.copies, {});
  std::deque<BatchArm> batches;
  for (std::size_t i = 0; i < m_arms.size(); ++i) {
    batches.emplace_back(m_bench, m_bench.images[i], m_arms[i], copies.slabs(), plan.launches);
  }
  InterleavedTiming timing = time_blocks([&](int, std::size_t arm, int launch) {
    Shot shot = batches[arm].shot();
    // The first replay after another arm finds that one's leavings in the caches: not timed.
    if (launch == 0) {
      shot.prepare = [prepare = shot.prepare, replay = shot.timed] {
        if (prepare) prepare();
        replay();
      };
    }
    return shot;
  });
  copies.demote();
  timing.mode = SamplingMode::batch;
  for (Sampling& arm : timing.arms) {
    divide(arm.samples_ns, plan.launches);
    arm.median_ns = median(arm.samples_ns);
    arm.launches = plan.launches;
    arm.copies = plan.copies;
  }
  return timing;
}

InterleavedTiming Interleaving::time_blocks(const ShotOf& shot_of) {
  InterleavedTiming timing;
  timing.arms.resize(m_arms.size());
  for (int block = 0; block < m_how.blocks; ++block) time_block(block, shot_of, timing);
  for (Sampling& arm : timing.arms) arm.median_ns = median(arm.samples_ns);
  return timing;
}

void Interleaving::time_block(int block, const ShotOf& shot_of, InterleavedTiming& timing) {
  const std::vector<std::size_t> order = arm_order(block, m_arms.size());
  std::vector<Shot> shots;
  for (const std::size_t arm : order) {
    for (int launch = 0; launch < m_how.launches; ++launch)
      shots.push_back(shot_of(block, arm, launch));
  }
  const TimedBlock timed = m_bench.stopwatch.time(shots);
  auto next = timed.elapsed_ns.begin();
  for (const std::size_t arm : order) {
    std::vector<double>& samples_ns = timing.arms[arm].samples_ns;
    samples_ns.insert(samples_ns.end(), next, next + m_how.launches);
    next += m_how.launches;
  }
  timing.sm_clock_mhz.push_back(timed.sm_clock_mhz);
}

}  // namespace

InterleavedTiming interleave(const Context& context, const Memory& memory,
                             const std::vector<Arm>& arms, const InterleaveSpec& how) {
  Interleaving interleaving(context, memory, arms, how);
  interleaving.warm_up();
  const std::optional<BatchPlan> batch = interleaving.plan();
  return batch ? interleaving.time_batch(*batch) : interleaving.time_cold();
}

}  // namespace cudaopt::cuda
