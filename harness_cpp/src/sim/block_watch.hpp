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
#include "sim/left_behind.hpp"
#include "sim/memory_order.hpp"
#include "sim/undefined_values.hpp"
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

  // A call or alloca gives these bytes of a thread's local memory out anew.
  void forget_local(std::uint64_t thread, std::uint32_t offset, std::uint32_t bytes);

  // Lanes of a warp did something together: a .sync instruction.
  void warp_met(const Warp& warp, std::uint32_t lanes);
  // bar.arrive; warps that wait are named when their barrier is released.
  void arrived(const Warp& warp, std::size_t barrier);
  // `whole_block`: it waited for everyone, those who have exited included.
  void barrier_released(std::size_t barrier, std::uint32_t warps, bool whole_block);
  void fence(const Warp& warp, Scope scope);
  // Lanes left by what may be an early return: `waiting`'s barrier goes on without them. Before it
  // is released.
  void left_before(const Warp& waiting, const Leaving& left);

  // mbarrier: an arrival publishes like a release to its place in shared memory; a wait that is
  // over learns from there.
  void phase_arrived(const Warp& warp, std::uint64_t address);
  void phase_left(const Warp& warp, std::uint32_t lane, std::uint64_t address);

  // The lane's cp.async, which `access` was told of as a store, may still be writing. Its bytes are
  // there once Block::copies has nothing pending of them: `copies_waited` looks.
  void copy_started(const Warp& warp, std::uint32_t lane, std::uint32_t address,
                    std::uint32_t bytes, std::int32_t pc);
  void copies_waited(const Warp& warp, std::uint32_t lanes);

  // Of a shuffle that has read its sources.
  void shuffled(Warp& warp, const Op& op, std::uint32_t mask, const ShuffleSources& sources);
  [[nodiscard]] UndefinedValues& undefined() { return m_undefined; }

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
  struct StartedCopy {
    std::uint32_t address = 0, bytes = 0;
    std::int32_t pc = -1;
    Stamp started = 0;
  };

  void forget_copies();
  void land(const Warp& warp, std::uint32_t lane, const StartedCopy& copy);

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
  [[nodiscard]] Stamp start_of(const LaneAccess& access, std::uint64_t cell, Stamp copy) const;
  void report_unfinished(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell,
                         Stamp copy);
  void report_left_behind(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell,
                          Stamp written);
  void report(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell, Stamp earlier,
              bool earlier_reads, bool in_one_instruction = false);

  LaunchWatch& m_launch;
  Block& m_block;
  bool m_running = false;
  Time m_turn = 0;
  BlockClocks m_clocks;
  WatchedArray m_shared;
  std::vector<bool> m_local_written;               // by byte of all threads
  std::vector<std::vector<StartedCopy>> m_copies;  // by thread, those nobody has waited for
  LeftBehind m_left_behind;
  UndefinedValues m_undefined;
  std::unordered_map<std::uint64_t, SyncLocation> m_locations;  // by shared address
};

}  // namespace cudaopt::sim
