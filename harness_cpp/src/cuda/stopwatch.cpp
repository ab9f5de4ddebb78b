#include "cuda/stopwatch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cudaopt::cuda {
namespace {

void enqueue_if_any(const std::function<void()>& work) {
  if (work) work();
}

}  // namespace

Stopwatch::Stopwatch(const Context& context, std::string what)
    : m_context(context), m_what(std::move(what)), m_hold(context), m_clock(context) {
  {
    const BlockingKernel::Held held(m_hold);
  }
  m_clock.enqueue_start();
  m_clock.enqueue_end();
  context.synchronize_own_work("our own kernels that time a launch");
}

TimedBlock Stopwatch::time(const std::vector<Shot>& shots, int together) {
  TimedBlock block;
  const Shot *next = shots.data(), *last = shots.data() + shots.size();
  while (next != last) {
    const Shot* end = next + std::min<std::ptrdiff_t>(together, last - next);
    time_together(next, end, block);
    next = end;
  }
  block.sm_clock_mhz = m_clock.mhz();
  return block;
}

void Stopwatch::run(const std::vector<Shot>& shots) const {
  queue_blaming_work([&] {
    for (const Shot& shot : shots) {
      enqueue_if_any(shot.prepare);
      shot.timed();
      enqueue_if_any(shot.finish);
    }
  });
  m_context.synchronize(m_what);
}

void Stopwatch::queue_blaming_work(const std::function<void()>& queue) const {
  try {
    queue();
  } catch (const Fault&) {
    m_context.synchronize(m_what);
    throw;
  }
}

void Stopwatch::time_together(const Shot* first, const Shot* last, TimedBlock& block) {
  while (m_events.size() < static_cast<std::size_t>(last - first)) {
    m_events.push_back(std::make_unique<Pair>(m_context));
  }
  queue_blaming_work([&] {
    std::optional<BlockingKernel::Held> held;
    if (!m_waited_for_host) held.emplace(m_hold);
    if (block.elapsed_ns.empty()) m_clock.enqueue_start();
    for (const Shot* shot = first; shot != last; ++shot) enqueue(*shot, *m_events[shot - first]);
  });
  m_context.synchronize(m_what);
  m_waited_for_host = m_waited_for_host || m_hold.timed_out();
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    const Pair& pair = *m_events[static_cast<std::size_t>(i)];
    block.elapsed_ns.push_back(pair.end.elapsed_ns_since(pair.start));
  }
}

void Stopwatch::enqueue(const Shot& shot, const Pair& pair) {
  enqueue_if_any(shot.prepare);
  pair.start.enqueue();
  shot.timed();
  pair.end.enqueue();
  enqueue_if_any(shot.finish);
  // The last one of a block counts. They also set the scheduler of thread blocks going: launches of
  // few blocks would have the same multiprocessors for all of it, a bias of 0.1 % (1 us, H200).
  m_clock.enqueue_end();
}

}  // namespace cudaopt::cuda
