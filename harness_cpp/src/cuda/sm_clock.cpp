#include "cuda/sm_clock.hpp"

#include "cuda/fill.hpp"
#include "cuda/helper_kernels.hpp"

namespace cudaopt::cuda {
namespace {

// What cudaopt_clock writes.
struct Reading {
  std::uint64_t cycles = 0, time_ns = 0;
};

constexpr unsigned kBlocksPerMultiprocessor = 4;  // so that one of them runs on SM 0

}  // namespace

SmClock::SmClock(const Context& context)
    : m_context(context),
      m_clock(context.helper(kClockKernel)),
      m_slots(allocate_plain(context, 2 * sizeof(Reading), "reading the SM clock")) {}

void SmClock::enqueue_start() const {
  fill_async(m_context, m_slots->base(), 2 * sizeof(Reading), {});
  enqueue(0);
}

void SmClock::enqueue_end() const { enqueue(1); }

void SmClock::enqueue(std::uint64_t slot) const {
  enqueue_helper(m_context, m_clock, kBlocksPerMultiprocessor * m_context.facts().multiprocessors,
                 1, {m_slots->base() + slot * sizeof(Reading)});
}

double SmClock::mhz() const {
  Reading readings[2];
  CUDAOPT_CUDA(m_context.driver(), copy_to_host, readings, m_slots->base(), sizeof readings);
  const auto [start, end] = readings;
  if (start.time_ns == 0 || end.time_ns <= start.time_ns) return 0;
  return 1e3 * static_cast<double>(end.cycles - start.cycles) /
         static_cast<double>(end.time_ns - start.time_ns);
}

}  // namespace cudaopt::cuda
