// One host thread's means to run blocks: registers for every warp of a block, shared memory,
// counts. A block runs alone, its warps in turns; nothing of it depends on what the worker ran
// before.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "device.hpp"
#include "sim/block.hpp"
#include "sim/block_watch.hpp"
#include "sim/frames.hpp"
#include "sim/launch_shadow.hpp"
#include "sim/ops.hpp"
#include "sim/spin.hpp"
#include "sim/standstill.hpp"
#include "sim/turns.hpp"

namespace cudaopt::sim {

class Worker {
 public:
  Worker(Launch& launch, RunSlice run_slice);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs the block with this linear index to its end, or throws its Fault.
  void run(std::uint64_t block, BlockTracer* tracer = nullptr);

  // The same in parts, for blocks that take turns: `advance` gives every warp of the block its turn
  // and is false once none can run; `finish` throws if one has not ended.
  void begin(std::uint64_t block, BlockTracer* tracer = nullptr);
  [[nodiscard]] bool advance();
  void finish();
  // For how many turns by now every warp that ran only looked whether it may go on.
  [[nodiscard]] std::uint64_t idle_turns() const { return m_idle_turns; }
  [[nodiscard]] bool add_to(Standstill& standstill);
  // What the block has printed is the launch's, though a fault may have ended it.
  void keep_printed();

  // What the blocks run since the last call add up to.
  [[nodiscard]] Counters take_counters();

 private:
  struct FreeAligned {
    void operator()(std::uint8_t* bytes) const { ::operator delete[](bytes, kAlignment); }
  };
  using Memory = std::unique_ptr<std::uint8_t[], FreeAligned>;
  static constexpr std::align_val_t kAlignment{64};
  [[nodiscard]] static Memory make_memory(std::uint64_t bytes);

  void make_warps();
  void begin_warp(Warp& warp);
  // False: the warp only looked whether it may go on.
  bool give_turn(Warp& warp);
  [[nodiscard]] std::uint32_t run_warp(Warp& warp, std::uint32_t limit);
  [[nodiscard]] std::uint32_t run_traced(Warp& warp, std::uint32_t limit);
  [[nodiscard]] std::uint32_t run_followed(Warp& warp, std::uint32_t limit);
  [[nodiscard]] std::uint32_t run_slice(Warp& warp, std::uint32_t limit);

  Launch& m_launch;
  RunSlice m_run_slice;
  std::uint32_t m_threads;
  Memory m_registers, m_shared, m_local;
  std::vector<std::uint32_t> m_predicates;
  std::vector<AddressPattern> m_patterns;
  std::vector<Warp> m_warps;
  std::vector<std::uint64_t> m_executed;  // by pc
  bool m_reads_clock = false;
  Frames m_frames;
  Counters m_counters;
  Block m_block;
  std::unique_ptr<WorkerShadow> m_shadow;  // of a program with one
  Turns m_turns;
  std::vector<SpinWatch> m_spins;  // by warp
  std::uint64_t m_idle_turns = 0;
  std::unique_ptr<BlockWatch> m_watch;  // only in launches with checks
};

}  // namespace cudaopt::sim
