// Batch samples: a graph of many launches between two events, on buffers that rotate over copies.
// What a launch costs among others of its kind, down to a microsecond.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/allocation.hpp"
#include "cuda/bench.hpp"
#include "cuda/graph.hpp"
#include "cuda/kernel.hpp"
#include "cuda/sampling_plan.hpp"

namespace cudaopt::cuda {

// Why launches of `spec` cannot be repeated on what the last one left; empty if they can.
[[nodiscard]] std::string batch_refusal(const Memory& memory, const LaunchSpec& spec);
// The same of a plan, whose copies may not fit the memory.
[[nodiscard]] std::string batch_refusal(const BatchPlan& plan, const BatchNeeds& needs);

// As of now.
[[nodiscard]] BatchNeeds batch_needs(const Bench& bench);

// Copies of the buffers of the first arm, restored, with contents that alternate as those of cold
// samples do.
class BatchCopies {
 public:
  BatchCopies(const Bench& bench, int copies, std::vector<int> other_contents);

  [[nodiscard]] const std::vector<DevicePointer>& slabs() const { return m_slabs; }
  // Queues it having its contents again, or those of image `content`.
  void enqueue_restore(int copy) const;
  void enqueue_restore(int copy, int content) const;
  // Leaves the L2 as if none had been used; to be called after the last launch.
  void demote() const;

 private:
  const Bench& m_bench;
  std::vector<int> m_other_contents;
  std::unique_ptr<Allocation> m_memory;
  std::vector<DevicePointer> m_slabs;
};

// A graph of launches of one kernel, on each of `slabs` in turn; making it replays it once.
class BatchArm {
 public:
  BatchArm(const Bench& bench, const Images& images, const Arm& arm,
           const std::vector<DevicePointer>& slabs, int launches);

  // One replay; the elapsed time is that of all launches. Variables are written before it, as
  // nothing between the launches of a graph is untimed.
  [[nodiscard]] Shot shot() const;

 private:
  const Bench& m_bench;
  SymbolWrites m_symbols;
  std::unique_ptr<Graph> m_graph;
};

// What one launch takes in a graph of few, which is how many a batch needs. `cold_ns` is an
// estimate that includes the launch.
[[nodiscard]] double graph_estimate_ns(Bench& bench, const Images& images, const Arm& arm,
                                       double cold_ns);

// The median time of an empty kernel in a graph of so many.
[[nodiscard]] double batch_floor_ns(Bench& bench, int launches);

// Times of all launches of a replay to times of one.
void divide(std::vector<double>& elapsed_ns, int launches);

}  // namespace cudaopt::cuda
