// Whether threads that only wait can ever go on, and who waits where.
//
// A path of a warp goes round for ever if it comes back to the very state it was in, registers and
// all, without having changed memory. If every path of every block that runs does, or waits at a
// barrier or for lanes of its warp, then nothing can change any more, in whatever order they have
// their turns. Paths of which this cannot be told (they count how often they looked, say) end with
// their budget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"
#include "sim/block.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim {

class Standstill {
 public:
  // Adds a block's threads. False: one may go on by itself. Executes some of its instructions.
  [[nodiscard]] bool add(Block& block, RunSlice run_slice, std::uint64_t* executed);

  // The no_progress fault of all blocks added; `more` ends its message.
  [[nodiscard]] Fault fault(const std::string& more) const;

 private:
  enum class Kind : std::uint8_t { spins, barrier, members };
  struct Waiting {
    Kind kind = Kind::spins;
    std::int32_t pc = -1, barrier = -1;
    std::uint64_t threads = 0, arrived = 0, expected = 0;  // of the first block
    Dim3 block, thread;                                    // one of them
  };

  bool add_running(Warp& warp, RunSlice run_slice, std::uint64_t* executed);
  void add_splits(Warp& warp);
  void count_at_barrier(Warp& warp, std::int32_t pc, std::uint32_t lanes_there);
  void count(const Warp& warp, Waiting waiting, std::uint32_t lanes);
  [[nodiscard]] std::string describe(const Waiting& waiting) const;

  const Launch* m_launch = nullptr;
  std::vector<Waiting> m_waiting;
};

}  // namespace cudaopt::sim
