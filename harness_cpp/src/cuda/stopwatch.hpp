// Times pieces of work on the stream, each between two events and queued as a whole before it runs.
// Each alone: while the GPU fetches what is queued behind a launch, that launch takes 0.6 us
// longer, give or take 0.2 us, and every launch of a graph 1.5 % longer (H200).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/blocking_kernel.hpp"
#include "cuda/context.hpp"
#include "cuda/event.hpp"
#include "cuda/sm_clock.hpp"

namespace cudaopt::cuda {

// One sample: what is queued before its first event, between the two, and after the second. None
// may wait for the GPU. Empty functions queue nothing.
struct Shot {
  std::function<void()> prepare, timed, finish;
};

struct TimedBlock {
  std::vector<double> elapsed_ns;  // of each shot
  double sm_clock_mhz = 0;         // between the first and the last of them; 0: not known
};

class Stopwatch {
 public:
  // `what` names the work in faults: "launch of 'softmax'".
  Stopwatch(const Context& context, std::string what);

  [[nodiscard]] TimedBlock time(const std::vector<Shot>& shots);
  // The same work without events, and without holding it back: code loads on its first launch, and
  // loading may wait for the GPU.
  void run(const std::vector<Shot>& shots) const;
  // Whether the host could not queue everything in advance; from then on nothing is held back.
  [[nodiscard]] bool waited_for_host() const { return m_waited_for_host; }

 private:
  // Calls `queue`. What the work ends in may show in any call after it; the work is blamed.
  void queue_blaming_work(const std::function<void()>& queue) const;
  [[nodiscard]] double time_one(const Shot& shot, bool is_first);

  const Context& m_context;
  std::string m_what;
  BlockingKernel m_hold;
  SmClock m_clock;
  Event m_start, m_end;
  bool m_waited_for_host = false;
};

}  // namespace cudaopt::cuda
