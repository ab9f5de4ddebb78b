// Which accesses of a block's threads come before which: the happens-before order within the block,
// and what its warps learnt of other blocks. Accesses carry the time they were made at; a warp
// knows another's accesses up to some time, and more after each barrier.
//
// Kept by warp, but for lanes of one warp, which are ordered by what they do together (`warp_met`).
// So a lane that publishes or learns does so for its whole warp, and a missing __syncwarp between
// the lanes that wrote and the one that publishes goes unseen.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/block.hpp"
#include "sim/grid_knowledge.hpp"

namespace cudaopt::sim {

// Accesses that come before what a warp does next.
struct Knowledge {
  Until block{};  // of the warps of its own block
  GridKnowledge grid;

  void join(const Knowledge& other);
};

// A location through which threads let each other know: what was released to it.
struct SyncLocation {
  GridKnowledge grid;       // with fences that reach the device, the releasing block's own included
  std::uint64_t block = 0;  // the one that released last with fences that reach the block only
  Until within{};           // what that one made known
};

class BlockClocks {
 public:
  void begin(std::uint64_t block, std::size_t warps, Time now);

  // `now` is a new time in all of these.
  void warp_met(std::uint32_t warp, std::uint32_t lanes, Time now);
  void arrived(std::uint32_t warp, std::size_t barrier, Time now);  // and does not wait
  void barrier_released(std::size_t barrier, std::uint32_t warps, std::uint32_t exited, Time now);
  void fence(std::uint32_t warp, Scope scope, Time now);

  // A write that releases by itself must have fenced before.
  void release(std::uint32_t warp, SyncLocation& to) const;
  // The lane also learns what other lanes of its warp released there.
  void acquire(std::uint32_t warp, std::uint32_t lane, const SyncLocation& from);
  [[nodiscard]] bool has_fenced(std::uint32_t warp) const { return m_warps[warp].fences != 0; }

  // Whether the access comes before what this lane does now. `block`: where the stamp is from.
  [[nodiscard]] bool knows(std::uint32_t warp, std::uint32_t lane, Stamp stamp,
                           std::uint64_t block) const;

  // Whatever the block's threads did before comes before what any lane of the warp does now.
  [[nodiscard]] Time floor(std::uint32_t warp) const { return m_warps[warp].floor; }
  [[nodiscard]] Time met(std::uint32_t warp, std::uint32_t lane) const {
    return m_warps[warp].met[lane];
  }
  // Some of its lanes have met others since this time, none later.
  [[nodiscard]] Time lanes_met(std::uint32_t warp) const { return m_warps[warp].lanes_met; }
  [[nodiscard]] Time begun() const { return m_begun; }

 private:
  struct WarpClock {
    Knowledge known, fenced_block, fenced_device;
    std::array<Time, kLanes> met{};  // by lane: when it last met others of its warp
    Time floor = 0, lanes_met = 0;
    int fences = 0;  // 1: to the block, 2: to the device
  };
  // What the warps that have arrived bring with them.
  struct Gathering {
    Knowledge known, fenced_block, fenced_device;
    int fences = 0;
  };

  void gather(Gathering& gathering, const WarpClock& clock) const;
  void set_floor(std::uint32_t warp);

  std::uint64_t m_block = 0;
  Time m_begun = 0;
  std::vector<WarpClock> m_warps;
  std::array<Gathering, kBarriers> m_arrived;
};

}  // namespace cudaopt::sim
