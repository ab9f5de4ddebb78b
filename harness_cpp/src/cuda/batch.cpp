#include "cuda/batch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "argument_bytes.hpp"
#include "cuda/helper_kernels.hpp"
#include "statistics.hpp"

namespace cudaopt::cuda {
namespace {

constexpr int kFloorSamples = 5, kPilotLaunches = 20, kPilotReplays = 3;
constexpr double kPilotNs = 200'000;

struct Sharing {
  bool is_read = false, is_written = false;
};

// Of the buffers with contents that `spec` names: what it does to their memory, by any name.
std::map<std::string, Sharing> sharing_of(const Memory& memory, const LaunchSpec& spec) {
  std::map<std::string, Sharing> by_owner;
  for (const std::string& name : buffers_of(spec.arguments)) {
    const Buffer& owner = memory.owner_of(name);
    if (!owner.has_contents) continue;
    const Access access = memory.find(name).spec.access;
    Sharing& sharing = by_owner[owner.spec.name];
    sharing.is_read = sharing.is_read || access != Access::write;
    sharing.is_written = sharing.is_written || access != Access::read;
  }
  return by_owner;
}

Shot replay_of(const Graph& graph) {
  Shot shot;
  shot.timed = [&graph] { graph.replay(); };
  return shot;
}

}  // namespace

std::string batch_refusal(const Memory& memory, const LaunchSpec& spec) {
  for (const auto& [name, sharing] : sharing_of(memory, spec)) {
    if (!sharing.is_read || !sharing.is_written) continue;
    return "'" + name +
           "' is read and written: every launch needs its initial contents again, which cannot be "
           "restored between the launches of a graph without being timed.";
  }
  return "";
}

std::string batch_refusal(const BatchPlan& plan, const BatchNeeds& needs) {
  if (plan.copies > 0) return "";
  return "a copy of the buffers takes " + std::to_string(needs.copy_bytes) +
         " bytes, more than a fifth of the " + std::to_string(needs.free_bytes) +
         " bytes of free memory.";
}

BatchNeeds batch_needs(const Bench& bench) {
  BatchNeeds needs;
  const GpuFacts gpu = bench.context.limits().gpu.value();
  needs.tick_ns = bench.tick_ns;
  needs.l2_bytes = gpu.l2_bytes;
  needs.free_bytes = gpu.free_bytes;
  needs.footprint_bytes = bench.images.front().layout().footprint_bytes;
  needs.copy_bytes = bench.slab_bytes();
  return needs;
}

BatchCopies::BatchCopies(const Bench& bench, int copies, std::vector<int> other_contents)
    : m_bench(bench), m_other_contents(std::move(other_contents)) {
  const std::uint64_t slab_bytes = bench.slab_bytes();
  const auto count = static_cast<std::uint64_t>(copies);
  m_memory = allocate_plain(bench.context, count * slab_bytes,
                            "the copies of the buffers that a batch rotates over");
  for (int copy = 0; copy < copies; ++copy) {
    const std::uint64_t shift = draw_of(copy, {}).shifted ? kShiftBytes : 0;
    m_slabs.push_back(m_memory->base() + static_cast<std::uint64_t>(copy) * slab_bytes + shift);
    enqueue_restore(copy);
  }
}

void BatchCopies::enqueue_restore(int copy) const {
  enqueue_restore(copy, draw_of(copy, m_other_contents).content);
}

void BatchCopies::enqueue_restore(int copy, int content) const {
  m_bench.images.front().enqueue_restore(content, m_slabs[static_cast<std::size_t>(copy)]);
}

void BatchCopies::demote() const {
  Shot shot;
  shot.timed = [this] {
    for (const DevicePointer slab : m_slabs) m_bench.enqueue_demotion(slab);
  };
  m_bench.stopwatch.run({shot});
}

BatchArm::BatchArm(const Bench& bench, const Images& images, const Arm& arm,
                   const std::vector<DevicePointer>& slabs, int launches)
    : m_bench(bench), m_symbols(arm.symbols) {
  std::vector<KernelLaunch> on_slabs;
  on_slabs.reserve(slabs.size());
  for (const DevicePointer slab : slabs) {
    on_slabs.emplace_back(bench.context, arm.function, arm.spec, images.pointers_in(slab));
  }
  m_graph = std::make_unique<Graph>(bench.context, "launches of '" + arm.spec.entry + "'", [&] {
    for (int i = 0; i < launches; ++i) {
      on_slabs[static_cast<std::size_t>(i) % on_slabs.size()].enqueue();
    }
  });
  bench.stopwatch.run({shot()});
}

Shot BatchArm::shot() const {
  Shot shot = replay_of(*m_graph);
  if (!m_symbols.empty()) shot.prepare = [this] { m_symbols.enqueue(m_bench.context); };
  return shot;
}

double graph_estimate_ns(Bench& bench, const Images& images, const Arm& arm, double cold_ns) {
  const double wanted = std::ceil(kPilotNs / std::max(cold_ns, 1.0));
  const int launches = static_cast<int>(std::clamp(wanted, 1.0, double{kPilotLaunches}));
  const DevicePointer slab = bench.places.front();
  images.enqueue_restore(0, slab);
  const BatchArm pilot(bench, images, arm, {slab}, launches);
  Shot shot = pilot.shot();
  shot.finish = [&] { bench.enqueue_demotion(slab); };
  const std::vector<Shot> shots(kPilotReplays, shot);
  return median(bench.stopwatch.time(shots).elapsed_ns) / launches;
}

double batch_floor_ns(Bench& bench, int launches) {
  const FunctionHandle empty = bench.context.helper(kEmptyKernel);
  const Graph graph(bench.context, "empty kernels", [&] {
    for (int i = 0; i < launches; ++i) enqueue_helper(bench.context, empty, 1, 32, {});
  });
  const std::vector<Shot> shots(kFloorSamples, replay_of(graph));
  bench.stopwatch.run({shots.front()});
  return median(bench.stopwatch.time(shots).elapsed_ns) / launches;
}

void divide(std::vector<double>& elapsed_ns, int launches) {
  for (double& time_ns : elapsed_ns) time_ns /= launches;
}

}  // namespace cudaopt::cuda
