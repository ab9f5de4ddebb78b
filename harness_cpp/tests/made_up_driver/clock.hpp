// Time as the made-up GPU knows it: it passes only while work is done, so it is the same on every
// machine.
#pragma once

#include <cstdint>

namespace made_up {

class Clock {
 public:
  static constexpr std::uint64_t kTickNs = 32;  // of events and of globaltimer
  static constexpr double kFullMhz = 1980, kThrottledMhz = 1200;

  void advance(std::uint64_t ns) {
    m_ns += ns;
    m_cycles += static_cast<double>(ns) * m_mhz / 1000;
  }
  // Launches are counted, because throttling begins after some number of them.
  void count_launch(std::uint64_t throttle_after) {
    if (++m_launches > throttle_after) m_mhz = kThrottledMhz;
  }
  [[nodiscard]] std::uint64_t globaltimer_ns() const { return m_ns / kTickNs * kTickNs; }
  [[nodiscard]] std::uint64_t cycles() const { return static_cast<std::uint64_t>(m_cycles); }

 private:
  std::uint64_t m_ns = 0, m_launches = 0;
  double m_cycles = 0, m_mhz = kFullMhz;
};

[[nodiscard]] inline Clock& gpu_clock() {
  static Clock only;
  return only;
}

}  // namespace made_up
