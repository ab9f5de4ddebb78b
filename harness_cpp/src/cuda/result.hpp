// What a result code of the driver means to whoever wrote the kernel. Pure.
#pragma once

#include <string>

#include "device.hpp"

namespace cudaopt::cuda {

struct ResultMeaning {
  FaultKind kind = FaultKind::launch_error;
  const char* explanation = "";  // empty: the driver's own words are all there is
  bool ends_process = false;     // every later call fails the same way
};

[[nodiscard]] ResultMeaning meaning_of(int result);

}  // namespace cudaopt::cuda
