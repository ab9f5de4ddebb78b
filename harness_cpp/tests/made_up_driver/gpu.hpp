// The GPUs of the made-up driver, the thread's current one, and what every call looks at first.
#pragma once

#include <cstdint>
#include <vector>

#include "result.hpp"

namespace made_up {

struct Gpu {
  int ordinal = 0;
  std::uint64_t used_bytes = 0;
  Result sticky = kSuccess;  // once a kernel faulted, what every call answers
};

[[nodiscard]] std::vector<Gpu>& gpus();
void forget_everything();
[[nodiscard]] Gpu*& current_gpu();
[[nodiscard]] bool& initialised();
// Modules, streams, events, graphs and host memory that nobody has given back.
[[nodiscard]] int& open_handles();
[[nodiscard]] bool& capturing();

// kSuccess, or why a call cannot do anything now.
[[nodiscard]] Result readiness();
// As `readiness`, and not between the begin and end of a capture.
[[nodiscard]] Result readiness_outside_capture();

// Takes memory from the current GPU.
[[nodiscard]] bool take(std::uint64_t bytes);
void give_back(std::uint64_t bytes);

}  // namespace made_up

#define MADE_UP_READY() \
  if (const made_up::Result ready = made_up::readiness(); ready != made_up::kSuccess) return ready
#define MADE_UP_READY_OUTSIDE_CAPTURE()                                   \
  if (const made_up::Result ready = made_up::readiness_outside_capture(); \
      ready != made_up::kSuccess)                                         \
  return ready
