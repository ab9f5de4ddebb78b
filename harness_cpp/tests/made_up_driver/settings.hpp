// What of the made-up GPU a test may change, through environment variables CUDAOPT_MADE_UP_*.
#pragma once

#include <cstdint>
#include <string>

namespace made_up {

struct Settings {
  int gpus = 1;             // _GPUS; 0: cuInit answers 100
  int driver = 13000;       // _DRIVER
  int init = 0;             // _INIT: what cuInit answers
  int own_module = 0;       // _OWN_MODULE: what loading our helper kernels answers
  int own_kernel = 0;       // _OWN_KERNEL: what our cudaopt_dirty_shared ends in
  int capability = 90;      // _CAPABILITY
  bool guard_pages = true;  // _GUARD_PAGES=0: no virtual memory API
  std::uint64_t memory_bytes = 139ull << 30;  // _MEMORY_BYTES
  std::uint64_t l2_bytes = 62914560;          // _L2_BYTES
  std::uint64_t throttle_after =
      ~std::uint64_t{0};  // _THROTTLE_AFTER: launches of kernels not ours
  int noise_ticks = 0;    // _NOISE_TICKS: a launch takes up to so many event ticks more
  std::string log;        // _LOG: a file that gets one line per thing done
};

// As the environment is at the first call, or was at the last `read_settings_again`.
[[nodiscard]] const Settings& settings();
void read_settings_again();

// Appends a line to the log, if there is one.
void log(const std::string& line);

}  // namespace made_up
