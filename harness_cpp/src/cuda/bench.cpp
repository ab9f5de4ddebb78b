#include "cuda/bench.hpp"

#include <algorithm>
#include <set>

#include "argument_bytes.hpp"
#include "cuda/sampling_plan.hpp"
#include "cuda/tick.hpp"

namespace cudaopt::cuda {
namespace {

std::string label_of(const std::vector<Arm>& arms) {
  std::string label = "timed launch of ";
  for (std::size_t i = 0; i < arms.size(); ++i) {
    label += (i == 0 ? "'" : " or '") + arms[i].spec.entry + "'";
  }
  return label;
}

std::set<std::string> buffers_of(const Arm& arm, const std::vector<std::string>& others) {
  std::set<std::string> names(others.begin(), others.end());
  for (const std::string& name : cudaopt::buffers_of(arm.spec.arguments)) names.insert(name);
  return names;
}

}  // namespace

Bench::Bench(const Context& on, const Memory& buffers, const std::vector<Arm>& arms,
             const std::vector<std::string>& others)
    : context(on),
      memory(buffers),
      stopwatch(on, label_of(arms)),
      flush(on),
      tick_ns(on.tick_ns([&] { return event_tick_ns(on, stopwatch); })) {
  for (const Arm& arm : arms) images.emplace_back(on, buffers, buffers_of(arm, others));
  const std::uint64_t slab_bytes = this->slab_bytes();
  const int count = place_count(slab_bytes, on.limits().gpu.value().free_bytes);
  m_slabs = allocate_plain(on, static_cast<std::uint64_t>(count) * slab_bytes, "timed launches");
  for (int i = 0; i < count; ++i) {
    places.push_back(m_slabs->base() + static_cast<std::uint64_t>(i) * slab_bytes);
  }
}

std::uint64_t Bench::slab_bytes() const {
  std::uint64_t most = 0;
  for (const Images& of_arm : images) most = std::max(most, of_arm.layout().slab_bytes());
  return most;
}

void Bench::enqueue_demotion(DevicePointer slab) const {
  flush.enqueue_demotion(slab, slab_bytes() - 2 * kShiftBytes);
}

bool Bench::arms_start_alike() const {
  return std::all_of(images.begin(), images.end(),
                     [this](const Images& of_arm) { return of_arm.starts_like(images.front()); });
}

}  // namespace cudaopt::cuda
