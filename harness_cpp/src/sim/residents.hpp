// Runs blocks that may wait for each other, on one thread. As on a GPU, as many blocks as fit on
// its multiprocessors run side by side, started in order; as little as possible of that happens,
// though: a block runs alone until it ends, or until it only looks whether it may go on. Then the
// next ones start, and all that run take turns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device.hpp"
#include "sim/block.hpp"
#include "sim/ops.hpp"
#include "sim/turns.hpp"
#include "sim/worker.hpp"

namespace cudaopt::sim {

class Residents {
 public:
  Residents(Launch& launch, RunSlice run_slice);

  // Throws the first Fault; no_progress if all that run wait, and no other block can start.
  [[nodiscard]] Counters run();

 private:
  enum class Turn : std::uint8_t { ended, working, waiting };

  void run_all();
  void start(std::uint64_t blocks);
  [[nodiscard]] bool give_turns();
  [[nodiscard]] Turn give_turn(Worker& worker);
  void shuffle();
  void look_for_standstill();

  Launch& m_launch;
  RunSlice m_run_slice;
  std::uint64_t m_count, m_next = 0;  // blocks of the grid, and of these started
  std::uint64_t m_idle_rounds = 0, m_next_look;
  RandomNumbers m_random;
  std::vector<std::unique_ptr<Worker>> m_running, m_free;
  Counters m_total;
};

}  // namespace cudaopt::sim
