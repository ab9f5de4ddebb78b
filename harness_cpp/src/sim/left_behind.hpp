// Shared memory whose writer has left the block without coming to a barrier that others wait at, by
// an end that may be an early return (passed_barriers.hpp). The barrier does not order the write: a
// reader behind it relies on a thread that went past.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/access_cells.hpp"
#include "sim/block.hpp"

namespace cudaopt::sim {

class LeftBehind {
 public:
  // A block of so many warps begins.
  void begin(std::size_t warps);
  // Shared memory is another block's from here on.
  void forget(const AccessCells& cells);

  // `left` did not come to the barrier at `barrier_pc`: marks what those lanes wrote from `since`
  // on with kLeftBehind.
  void mark(const AccessCells& cells, const Leaving& left, std::int32_t barrier_pc, Time since);

  // The barrier that the writer of a marked cell did not come to.
  [[nodiscard]] std::int32_t barrier_of(Stamp marked) const;

 private:
  struct Gone {
    std::uint32_t lanes = 0;
    std::int32_t barrier_pc = -1;
  };
  std::vector<Gone> m_gone;  // by warp
  bool m_any = false;
};

}  // namespace cudaopt::sim
