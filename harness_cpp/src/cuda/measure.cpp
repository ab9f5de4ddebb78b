#include "cuda/measure.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/batch.hpp"
#include "cuda/bench.hpp"
#include "cuda/cold.hpp"
#include "cuda/sampling.hpp"
#include "cuda/sampling_plan.hpp"
#include "cuda/spot_check.hpp"
#include "cuda/warm_up.hpp"
#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

// The numbers of the images with other contents, as many as the memory has room for: without some a
// time is merely less varied.
std::vector<int> add_others(Images& images, const std::vector<FileContents>& others,
                            std::vector<std::string>& notes) {
  std::vector<int> numbers;
  for (const FileContents& contents : others) {
    try {
      numbers.push_back(images.add(contents));
    } catch (const Fault& fault) {
      if (fault.detail().kind != FaultKind::out_of_memory) throw;
      notes.push_back("timed on " + std::to_string(numbers.size()) + " of " +
                      std::to_string(others.size()) + " other contents: " + fault.detail().message);
      break;
    }
  }
  return numbers;
}

// One measurement under way.
class Recipe {
 public:
  Recipe(const Context& context, const Memory& memory, const Arm& arm, const MeasureSpec& how)
      : m_arm(arm),
        m_how(how),
        m_bench(context, memory, {arm}, how.capture),
        m_cold(m_bench, images(), arm) {
    prepare_check(context);
    m_others = add_others(images(), how.contents, m_timing.notes);
  }

  void warm_up();
  void time_cold();
  void time_batch();
  [[nodiscard]] bool wants_batch() const;
  [[nodiscard]] Timing finish();
  [[nodiscard]] bool has_times() const { return m_timing.cold || m_timing.batch; }

 private:
  [[nodiscard]] Images& images() { return m_bench.images.front(); }
  void prepare_check(const Context& context);
  [[nodiscard]] std::optional<BatchPlan> plan();
  [[nodiscard]] Shot batch_shot(const BatchArm& arm, const BatchCopies& copies, int sample) const;
  void keep_outputs(SamplingMode mode);

  const Arm& m_arm;
  const MeasureSpec& m_how;
  Timing m_timing;
  Bench m_bench;
  ColdArm m_cold;
  std::vector<int> m_others;         // images
  std::optional<SpotCheck> m_check;  // until its launch has happened
};

// Before the other contents take what memory there is: these are needed.
void Recipe::prepare_check(const Context& context) {
  if (!m_how.held_out && m_how.capture.empty()) return;
  const int content = m_how.held_out ? images().add(*m_how.held_out) : 0;
  m_check.emplace(context, images(), content, m_how.samples);
}

void Recipe::warm_up() {
  m_timing.warmup_launches = cuda::warm_up(m_bench.stopwatch, m_how.warmup, [this](int launch) {
    return m_cold.shot(draw_of(launch, m_others));
  });
}

void Recipe::time_cold() {
  const auto shot = [this](int sample) {
    const Draw draw = draw_of(sample, m_others);
    const bool is_checked = m_check && m_check->sample() == sample;
    return is_checked ? m_cold.checked_shot(draw, *m_check) : m_cold.shot(draw);
  };
  m_timing.cold = sample(m_bench, m_how, shot, m_timing.sm_clock_mhz);
  m_timing.mode = SamplingMode::cold;
  keep_outputs(SamplingMode::cold);
}

bool Recipe::wants_batch() const {
  if (m_how.mode != SamplingMode::automatic) return m_how.mode == SamplingMode::batch;
  return m_timing.cold && m_timing.cold->median_ns < kBatchBelowNs;
}

void Recipe::time_batch() {
  const std::optional<BatchPlan> batch = plan();
  if (!batch) return;
  const BatchCopies copies(m_bench, batch->copies, m_others);
  const BatchArm arm(m_bench, images(), m_arm, copies.slabs(), batch->launches);
  const auto shot = [&](int sample) { return batch_shot(arm, copies, sample); };
  Sampling sampling = sample(m_bench, m_how, shot, m_timing.sm_clock_mhz);
  copies.demote();
  divide(sampling.samples_ns, batch->launches);
  sampling.median_ns = median(sampling.samples_ns);
  sampling.launches = batch->launches;
  sampling.copies = batch->copies;
  sampling.floor_ns = batch_floor_ns(m_bench, batch->launches);
  m_timing.batch = std::move(sampling);
  m_timing.mode = SamplingMode::batch;
  keep_outputs(SamplingMode::batch);
}

std::optional<BatchPlan> Recipe::plan() {
  std::string& refused = m_timing.batch_refused;
  refused = batch_refusal(m_bench.memory, m_arm.spec);
  if (!refused.empty()) return std::nullopt;
  const double cold_ns =
      m_timing.cold ? m_timing.cold->median_ns : cold_estimate_ns(m_bench, m_cold);
  const BatchNeeds needs = batch_needs(m_bench);
  const BatchPlan batch = plan_batch(graph_estimate_ns(m_bench, images(), m_arm, cold_ns), needs);
  refused = batch_refusal(batch, needs);
  if (!refused.empty()) return std::nullopt;
  if (!leaves_l2(batch, needs)) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(batch.copies) * needs.footprint_bytes;
    m_timing.notes.push_back("batch: the buffers' copies have " + std::to_string(bytes) +
                             " bytes together, less than 5 times the L2 of " +
                             std::to_string(needs.l2_bytes) +
                             " bytes: launches find some of their inputs there.");
  }
  return batch;
}

// The checked replay starts from the contents of the check in copy 0, and the others do not.
Shot Recipe::batch_shot(const BatchArm& arm, const BatchCopies& copies, int sample) const {
  Shot shot = arm.shot();
  if (!m_check || m_check->sample() != sample) return shot;
  shot.prepare = [this, &copies, prepare = shot.prepare] {
    copies.enqueue_restore(0, m_check->content());
    if (prepare) prepare();
  };
  shot.finish = [&] {
    m_check->enqueue_keep(copies.slabs().front());
    copies.enqueue_restore(0);
  };
  return shot;
}

void Recipe::keep_outputs(SamplingMode mode) {
  if (!m_check) return;
  if (!m_how.capture.empty()) {
    m_timing.captured = m_check->captured(m_bench.memory, m_how.capture, mode);
  }
  m_check.reset();
}

Timing Recipe::finish() {
  if (m_bench.stopwatch.waited_for_host()) {
    m_timing.notes.push_back(
        "the samples include the time to submit them: the launch could not be queued in advance.");
  }
  m_timing.tick_ns = m_bench.tick_ns;
  m_timing.contents = images().count();
  return std::move(m_timing);
}

}  // namespace

Timing measure(const Context& context, const Memory& memory, const Arm& arm,
               const MeasureSpec& how) {
  Recipe recipe(context, memory, arm, how);
  recipe.warm_up();
  if (how.mode != SamplingMode::batch) recipe.time_cold();
  if (recipe.wants_batch()) recipe.time_batch();
  if (!recipe.has_times()) recipe.time_cold();
  return recipe.finish();
}

}  // namespace cudaopt::cuda
