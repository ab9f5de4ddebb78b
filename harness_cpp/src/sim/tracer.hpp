// Follows one sampled block through caches and scoreboard, and sums up what the latency model asks.
// Only `measure` uses it: the dispatch loop calls `step` before each instruction it executes there
// (a template parameter, so that plain launches pay nothing).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/latency.hpp"
#include "sim/l1.hpp"
#include "sim/line_counts.hpp"
#include "sim/machine.hpp"
#include "sim/request.hpp"
#include "sim/scoreboard.hpp"
#include "sim/timed_code.hpp"
#include "sim/touched.hpp"

namespace cudaopt::sim {

class BlockTracer {
 public:
  // `code` is made once per launch by `timed_code` and outlives the tracer; `warps` are those of
  // the block.
  BlockTracer(const TimedCode& code, const model::TraceSettings& settings, std::uint32_t warps);

  // Before `op` executes for `mask`: its guard applied, except for branches. With mask 0 (every
  // lane guarded off) call it too: the instruction still issues. Reads addresses from `op.src[0]`.
  void step(const Warp& warp, const Op& op, std::uint32_t mask);

  // Counts of each source line too, from the first instruction on. `lines` outlive the tracer.
  void count_lines(const ProgramLines& lines) { m_line_counts.emplace(lines); }

  // After `op` executed; `counters` are those of this block so far.
  void executed(const Op& op, const Counters& counters) {
    if (m_line_counts) m_line_counts->executed(op, counters);
  }

  // A barrier let the warps in `warps` (bit per warp index) go on together.
  void barrier_released(std::uint32_t warps);

  // Once, at the end. `counters` are those of this block alone.
  [[nodiscard]] model::BlockTrace finish(const Counters& counters);

 private:
  struct Request;

  void count_slots(const TimedOp& timed);
  void access(const TimedOp& timed, Request& request);
  [[nodiscard]] Arrival access_tile(const Warp& warp, const Op& op, const TimedOp& timed,
                                    const Arrival& start);
  void access_shared(const TimedOp& timed, Request& request);
  void shared_atomic(Request& request);
  void access_global(const TimedOp& timed, Request& request);
  void load_sectors(Request& request);
  void store_sectors(Request& request);
  void atomic_operations(Request& request);

  const TimedCode& m_code;
  model::TraceSettings m_settings;
  std::vector<Scoreboard> m_warps;
  L1Cache m_l1;
  TouchedSectors m_touched;
  std::map<std::uint64_t, std::uint64_t> m_granules;  // operations by number of 512-byte granule
  std::vector<PassMemo> m_memos;                      // by pc
  std::vector<std::uint64_t> m_passes;                // by pc: of the last shared access there
  std::optional<LineCounts> m_line_counts;
  model::BlockTrace m_trace;
};

}  // namespace cudaopt::sim
