// Loops in which a warp waits: found while it runs, and proved to be endless.
#pragma once

#include <cstdint>

#include "sim/block.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim {

// What a warp did in its latest turns.
class SpinWatch {
 public:
  SpinWatch();
  // Before and after a turn of `executed` instructions; `by_pc` is how often the worker executed
  // each.
  void begin_turn(const Program& program, const std::vector<std::uint64_t>& by_pc);
  void end_turn(const Program& program, const std::vector<std::uint64_t>& by_pc,
                std::uint32_t executed);

  // It only looked whether it may go on, more than once.
  [[nodiscard]] bool spins() const { return m_spins; }
  // For so long that other lanes of the warp shall have a turn.
  [[nodiscard]] bool is_impatient() const { return m_spun >= m_patience; }
  void has_yielded();
  // Instructions of its next turn, at most: few while it waits, so that others soon have theirs.
  [[nodiscard]] std::uint32_t longest_turn() const;

 private:
  std::uint64_t m_polls_before = 0, m_stores_before = 0;
  std::uint64_t m_polls = 0;         // in this window
  std::uint32_t m_instructions = 0;  // in this window
  std::uint32_t m_spun = 0;          // since lanes yielded
  std::uint32_t m_patience;
  bool m_spins = false;
};

// The pc of a polling instruction of the endless loop that the running lanes are in, or -1 if it is
// none or that cannot be told. Executes instructions of the warp, until it is sure.
[[nodiscard]] std::int32_t spin_of(Warp& warp, RunSlice run_slice, std::uint64_t* executed);

}  // namespace cudaopt::sim
