#include "gpu.hpp"

#include "settings.hpp"

namespace made_up {
namespace {

std::vector<Gpu> as_new() {
  std::vector<Gpu> made;
  for (int ordinal = 0; ordinal < settings().gpus; ++ordinal) made.push_back({ordinal});
  return made;
}

}  // namespace

std::vector<Gpu>& gpus() {
  static std::vector<Gpu> all = as_new();
  return all;
}

void forget_everything() {
  gpus() = as_new();
  current_gpu() = nullptr;
  initialised() = false;
  open_handles() = 0;
}

Gpu*& current_gpu() {
  thread_local Gpu* current = nullptr;
  return current;
}

bool& initialised() {
  static bool done = false;
  return done;
}

int& open_handles() {
  static int count = 0;
  return count;
}

bool& capturing() {
  thread_local bool between_begin_and_end = false;
  return between_begin_and_end;
}

Result readiness() {
  if (!initialised()) return kNotInitialized;
  if (current_gpu() == nullptr) return kInvalidContext;
  return current_gpu()->sticky;
}

Result readiness_outside_capture() {
  const Result ready = readiness();
  return ready == kSuccess && capturing() ? kCaptureUnsupported : ready;
}

bool take(std::uint64_t bytes) {
  if (bytes > settings().memory_bytes - current_gpu()->used_bytes) return false;
  current_gpu()->used_bytes += bytes;
  return true;
}

void give_back(std::uint64_t bytes) { current_gpu()->used_bytes -= bytes; }

}  // namespace made_up
