#include "cuda/stopwatch.hpp"

#include <optional>
#include <utility>

namespace cudaopt::cuda {
namespace {

void enqueue_if_any(const std::function<void()>& work) {
  if (work) work();
}

}  // namespace

Stopwatch::Stopwatch(const Context& context, std::string what)
    : m_context(context),
      m_what(std::move(what)),
      m_hold(context),
      m_clock(context),
      m_start(context),
      m_end(context) {
  {
    const BlockingKernel::Held held(m_hold);
  }
  m_clock.enqueue_start();
  m_clock.enqueue_end();
  context.synchronize_own_work("our own kernels that time a launch");
}

TimedBlock Stopwatch::time(const std::vector<Shot>& shots) {
  TimedBlock block;
  for (const Shot& shot : shots) {
    block.elapsed_ns.push_back(time_one(shot, block.elapsed_ns.empty()));
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

double Stopwatch::time_one(const Shot& shot, bool is_first) {
  queue_blaming_work([&] {
    std::optional<BlockingKernel::Held> held;
    if (!m_waited_for_host) held.emplace(m_hold);
    if (is_first) m_clock.enqueue_start();
    enqueue_if_any(shot.prepare);
    m_start.enqueue();
    shot.timed();
    m_end.enqueue();
    enqueue_if_any(shot.finish);
    // The last one of a block counts. They also set the scheduler of thread blocks going: launches
    // of few blocks would have the same multiprocessors for all of it, a bias of 0.1 % (1 us,
    // H200).
    m_clock.enqueue_end();
  });
  m_context.synchronize(m_what);
  m_waited_for_host = m_waited_for_host || m_hold.timed_out();
  return m_end.elapsed_ns_since(m_start);
}

}  // namespace cudaopt::cuda
