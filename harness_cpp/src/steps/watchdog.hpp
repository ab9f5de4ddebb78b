// Ends the process when a request takes too long: an interpreter or compiler that hangs cannot be
// asked to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace cudaopt::steps {

class Watchdog {
 public:
  // After `timeout`, calls `on_expiry` on a thread of its own and ends the process with
  // kExitCode. A timeout of zero never expires.
  Watchdog(std::chrono::duration<double> timeout, std::function<void()> on_expiry);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Afterwards `on_expiry` is not running and will not run.
  void disarm();

  static constexpr int kExitCode = 3;

 private:
  void watch(std::chrono::duration<double> timeout, const std::function<void()>& on_expiry);

  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_disarmed = false;
  std::thread m_thread;
};

}  // namespace cudaopt::steps
