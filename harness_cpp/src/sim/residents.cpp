#include "sim/residents.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/standstill.hpp"

namespace cudaopt::sim {
namespace {

constexpr int kRounds = 16;                   // of a block's warps, until the next block's turn
constexpr std::uint64_t kBlocksAtRandom = 4;  // side by side in random order, though none waits
// Turns of a block in which nobody did anything, until it is said to wait: a lock may yet go from
// one lane of a warp to another.
constexpr std::uint64_t kFewIdleTurns = 8;
constexpr std::uint64_t kFirstLook = 16;

}  // namespace

Residents::Residents(Launch& launch, RunSlice run_slice)
    : m_launch(launch),
      m_run_slice(run_slice),
      m_count(launch.grid.count()),
      m_next_look(kFirstLook),
      m_random(launch.order.seed) {}

Counters Residents::run() {
  try {
    run_all();
  } catch (const Fault&) {
    for (const std::unique_ptr<Worker>& worker : m_running)
      if (worker != nullptr) worker->keep_printed();
    throw;
  }
  return m_total;
}

void Residents::run_all() {
  const bool random = m_launch.order.kind == Order::Kind::random;
  const std::uint64_t least = random ? kBlocksAtRandom : 1;
  while (m_next < m_count || !m_running.empty()) {
    if (m_running.size() < least) start(least - m_running.size());
    if (give_turns()) {
      m_idle_rounds = 0;
      m_next_look = kFirstLook;
      continue;
    }
    // Twice as many each time: a grid that waits for itself is soon complete.
    if (++m_idle_rounds == 1) start(m_running.size());
    if (m_idle_rounds >= m_next_look) look_for_standstill();
  }
}

void Residents::start(std::uint64_t blocks) {
  const std::uint64_t window = m_launch.resident_blocks;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    if (m_next == m_count || m_running.size() >= window) return;
    if (m_free.empty()) m_free.push_back(std::make_unique<Worker>(m_launch, m_run_slice));
    m_running.push_back(std::move(m_free.back()));
    m_free.pop_back();
    m_running.back()->begin(block_at(m_launch.order, m_count, window, m_next++));
    m_idle_rounds = 0;
  }
}

// False: all that run only looked whether they may go on.
bool Residents::give_turns() {
  shuffle();
  bool any = false;
  for (std::unique_ptr<Worker>& worker : m_running) {
    const Turn turn = give_turn(*worker);
    any = any || turn != Turn::waiting;
    if (turn == Turn::ended) m_free.push_back(std::move(worker));
  }
  m_running.erase(std::remove(m_running.begin(), m_running.end(), nullptr), m_running.end());
  return any;
}

Residents::Turn Residents::give_turn(Worker& worker) {
  for (int round = 0; round < kRounds; ++round) {
    if (!worker.advance()) {
      worker.finish();
      m_total.add(worker.take_counters());
      return Turn::ended;
    }
    if (worker.idle_turns() >= kFewIdleTurns) return Turn::waiting;
  }
  return Turn::working;
}

void Residents::shuffle() {
  if (m_launch.order.kind != Order::Kind::random) return;
  for (std::size_t i = m_running.size(); i > 1; --i) {
    std::swap(m_running[i - 1], m_running[m_random.below(i)]);
  }
}

void Residents::look_for_standstill() {
  m_next_look = 2 * m_idle_rounds;
  Standstill standstill;
  for (const std::unique_ptr<Worker>& worker : m_running) {
    if (!worker->add_to(standstill)) return;
  }
  std::string more;
  if (m_next < m_count) {
    more = "; " + std::to_string(m_running.size()) + " of " + std::to_string(m_count) +
           " blocks run, as many as the GPU holds at once, and the others start only when one of "
           "them ends";
  }
  throw standstill.fault(more);
}

}  // namespace cudaopt::sim
