// One thread that waits for either the end of the request or the end of its time.
#include "steps/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cudaopt::steps {
namespace {

// Longer waits overflow the clock's arithmetic in some standard libraries.
constexpr std::chrono::duration<double> kLongestWait = std::chrono::hours(24 * 365);

}  // namespace

Watchdog::Watchdog(std::chrono::duration<double> timeout, std::function<void()> on_expiry) {
  if (timeout.count() <= 0) return;
  m_thread = std::thread([this, timeout, on_expiry = std::move(on_expiry)] {
    watch(std::min(timeout, kLongestWait), on_expiry);
  });
}

Watchdog::~Watchdog() {
  disarm();
  if (m_thread.joinable()) m_thread.join();
}

void Watchdog::disarm() {
  const std::lock_guard<std::mutex> lock(m_mutex);
  m_disarmed = true;
  m_changed.notify_one();
}

// The lock is held while `on_expiry` runs: `disarm` waits for it, and never returns if it came
// late.
void Watchdog::watch(std::chrono::duration<double> timeout,
                     const std::function<void()>& on_expiry) {
  std::unique_lock<std::mutex> lock(m_mutex);
  if (m_changed.wait_for(lock, timeout, [this] { return m_disarmed; })) return;
  on_expiry();
  _exit(kExitCode);
}

}  // namespace cudaopt::steps
