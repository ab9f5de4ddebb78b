// When one warp's values arrive. Inside a basic block only data flow orders instructions, because
// ptxas schedules there (it hoists loads to the top); across blocks the warp issues in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/timed_code.hpp"

namespace cudaopt::sim {

// A time, and how many L1 misses lie on the chain that led to it.
struct Arrival {
  std::uint64_t cycles = 0;
  std::uint32_t first_misses = 0;   // by the first touch of a sector
  std::uint32_t repeat_misses = 0;  // of a sector the block had touched before

  [[nodiscard]] bool operator<(const Arrival& other) const { return cycles < other.cycles; }
};

class Scoreboard {
 public:
  explicit Scoreboard(std::size_t registers) : m_ready(registers) {}

  // When `op` can start. `issue` then records it; both once per executed instruction.
  [[nodiscard]] Arrival start(const TimedOp& op) const {
    Arrival start = m_block_start;
    start.cycles += m_issued;
    for (const std::int32_t index : op.read) {
      if (index < 0) break;
      start = std::max(start, m_ready[static_cast<std::size_t>(index)]);
    }
    if (op.kind != TimedOp::Kind::load || op.any_order) return start;
    if (op.space != ptx::Space::shared) start = std::max(start, m_stored_elsewhere);
    if (op.space != ptx::Space::global) start = std::max(start, m_stored_shared);
    return start;
  }

  // `arrival` is when the results are there.
  void issue(const TimedOp& op, const Arrival& start, const Arrival& arrival) {
    for (const std::int32_t index : op.written) {
      if (index < 0) break;
      m_ready[static_cast<std::size_t>(index)] = arrival;
    }
    m_issued += op.slots;
    m_latest = std::max(m_latest, start);
    if (op.kind == TimedOp::Kind::store || op.kind == TimedOp::Kind::atomic) {
      Arrival& stored = op.space == ptx::Space::shared ? m_stored_shared : m_stored_elsewhere;
      stored = std::max(stored, start);
    }
    if (op.kind == TimedOp::Kind::boundary) begin_block();
    if (op.copy != CopyStep::none) advance_copies(op, arrival);
  }

  // Everything so far has issued; nothing later can issue before `time`.
  void wait_until(const Arrival& time) {
    m_latest = std::max(m_latest, time);
    begin_block();
  }

  [[nodiscard]] Arrival latest() const {
    Arrival end = m_block_start;
    end.cycles += m_issued;
    return std::max(m_latest, end);
  }

 private:
  void advance_copies(const TimedOp& op, const Arrival& arrival) {
    switch (op.copy) {
      case CopyStep::start:
        m_copied = std::max(m_copied, arrival);
        break;
      case CopyStep::commit:
        m_groups.push_back(m_copied);
        m_copied = {};
        break;
      case CopyStep::wait_all:
        wait_until(m_copied);
        wait_for_groups(0);
        break;
      case CopyStep::wait_group:
        wait_for_groups(op.pending_groups);
        break;
      case CopyStep::none:
        break;
    }
  }

  // All but the last `pending` groups are there.
  void wait_for_groups(std::size_t pending) {
    if (m_groups.size() <= pending) return;
    const auto end = m_groups.end() - static_cast<std::ptrdiff_t>(pending);
    wait_until(*std::max_element(m_groups.begin(), end));
    m_groups.erase(m_groups.begin(), end);
  }

  void begin_block() {
    m_block_start = latest();
    m_issued = 0;
  }

  std::vector<Arrival> m_ready;
  Arrival m_block_start, m_latest;
  Arrival m_stored_shared, m_stored_elsewhere;  // loads of the same space keep behind stores
  Arrival m_copied;                             // the last asynchronous copy of the open group
  std::vector<Arrival> m_groups;                // of committed ones nobody has waited for
  std::uint64_t m_issued = 0;
};

}  // namespace cudaopt::sim
