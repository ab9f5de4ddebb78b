// What a launch with checks keeps of one block while it runs: its clocks, who accessed its shared
// memory, which of its local memory is written. Accesses come here before they are made, after they
// were found to be within bounds; those that the handlers find to be in order by themselves do not.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/block.hpp"
#include "sim/block_clocks.hpp"
#include "sim/launch_watch.hpp"
#include "sim/memory_order.hpp"
#include "sim/watched_array.hpp"

namespace cudaopt::sim {

// What one warp instruction accesses, by lane.
struct WarpAccess {
  Warp& warp;
  const Op& op;
  std::uint32_t mask;
  ptx::Space space;                // none: addresses are generic
  const std::uint64_t* addresses;  // by lane, within the space
  AccessKind kind;
  AccessShape shape;
  bool stores_registers = false;  // a store of op.src[1] and on: its values can be compared
};

class BlockWatch {
 public:
  BlockWatch(LaunchWatch& launch, Block& block);
  BlockWatch(const BlockWatch&) = delete;
  BlockWatch& operator=(const BlockWatch&) = delete;
  ~BlockWatch() { finish(); }

  void begin();
  void finish();

  void access(const WarpAccess& access);

  // Lanes of a warp did something together: a .sync instruction.
  void warp_met(const Warp& warp, std::uint32_t lanes);
  // bar.arrive; warps that wait are named when their barrier is released.
  void arrived(const Warp& warp, std::size_t barrier);
  void barrier_released(std::size_t barrier, std::uint32_t warps);
  void fence(const Warp& warp, Scope scope);

  // For the fast path. Stamps from `turn` on are this block's.
  [[nodiscard]] LaunchWatch& launch() { return m_launch; }
  [[nodiscard]] WatchedArray& shared() { return m_shared; }
  [[nodiscard]] const BlockClocks& clocks() const { return m_clocks; }
  [[nodiscard]] Time turn() {
    if (m_launch.take_turn(m_block.linear)) m_turn = m_launch.now();
    return m_turn;
  }

 private:
  struct LaneAccess;

  [[nodiscard]] LaneAccess lane_access(const WarpAccess& access, std::uint32_t lane);
  void check(const WarpAccess& whole, const LaneAccess& access, const LaneAccess* all);
  void check_read(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell);
  void check_write(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell,
                   const LaneAccess* all);
  void check_written(const WarpAccess& whole, const LaneAccess& access);
  void note_read(const LaneAccess& access, std::uint64_t cell);
  void local_access(const WarpAccess& whole, const LaneAccess& access);
  void learn(const WarpAccess& whole, const LaneAccess& access);
  void publish(const WarpAccess& whole, const LaneAccess& access);

  [[nodiscard]] bool is_current(const WatchedArray& array, Stamp stamp) const;
  [[nodiscard]] std::uint64_t block_of(const WatchedArray& array, Stamp stamp) const;
  [[nodiscard]] bool collides(const WarpAccess& whole, const LaneAccess& access,
                              Stamp earlier) const;
  [[nodiscard]] bool keeps_bytes(const LaneAccess& access, std::uint64_t cell) const;
  [[nodiscard]] const LaneAccess* same_instruction(const WarpAccess& whole,
                                                   const LaneAccess& access, std::uint64_t cell,
                                                   Stamp earlier, const LaneAccess* all) const;
  void report(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell, Stamp earlier,
              bool earlier_reads, bool in_one_instruction = false);

  LaunchWatch& m_launch;
  Block& m_block;
  bool m_running = false;
  Time m_turn = 0;
  BlockClocks m_clocks;
  WatchedArray m_shared;
  std::vector<bool> m_local_written;                            // by byte of all threads
  std::unordered_map<std::uint64_t, SyncLocation> m_locations;  // by shared address
};

}  // namespace cudaopt::sim
