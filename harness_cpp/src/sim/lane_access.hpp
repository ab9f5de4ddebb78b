// One lane's part of a warp's access, as BlockWatch judges it.
#pragma once

#include <cstdint>

#include "sim/block_watch.hpp"

namespace cudaopt::sim {

struct BlockWatch::LaneAccess {
  WatchedArray* array = nullptr;  // nullptr: local, constant or parameter memory
  bool local = false;
  std::uint32_t lane = 0, bytes = 0;
  std::uint64_t offset = 0;  // in the array, or in the thread's local memory
  Stamp stamp = 0;
  std::uint8_t stored[32]{};  // what will be in memory afterwards
  bool knows_stored = false;

  [[nodiscard]] std::uint64_t first_cell() const { return offset >> array->cells.shift(); }
  [[nodiscard]] std::uint64_t end_cell() const {
    return ((offset + bytes - 1) >> array->cells.shift()) + 1;
  }
};

}  // namespace cudaopt::sim
