// Launches, with the names libcuda exports.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "clock.hpp"
#include "gpu.hpp"
#include "kernels.hpp"
#include "queue.hpp"
#include "settings.hpp"

using namespace made_up;

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id;
  unsigned reserved;
  alignas(8) unsigned value[16];
};

struct LaunchConfig {
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

namespace {

constexpr int kCooperative = 2, kClusterDimension = 4;
constexpr unsigned kThreadsPerBlock = 1024;

std::uint64_t noise_ns() {
  static std::uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % static_cast<unsigned>(settings().noise_ticks + 1) * Clock::kTickNs;
}

// One launch to the log: what it was, and with what.
std::string line_of(const Launch& launch) {
  std::string line = "launch " + launch.function->name + " grid=" + std::to_string(launch.grid[0]) +
                     " block=" + std::to_string(launch.block[0]) +
                     " shared=" + std::to_string(launch.shared_bytes);
  if (launch.cluster[0] != 0) {
    line += " cluster=" + std::to_string(launch.cluster[0]) + "x" +
            std::to_string(launch.cluster[1]) + "x" + std::to_string(launch.cluster[2]);
  }
  if (launch.is_cooperative) line += " cooperative";
  for (const std::uint64_t value : launch.values) line += " " + std::to_string(value);
  if (const std::string x0 = first_input(launch); !x0.empty()) line += " x[0]=" + x0;
  return line;
}

Result carry_out(const Launch& launch) {
  log(line_of(launch));
  if (!is_ours(launch.function->name)) gpu_clock().count_launch(settings().throttle_after);
  gpu_clock().advance(duration_ns(launch.function->name) + noise_ns());
  return execute(launch);
}

bool fits(const Launch& launch) {
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  const std::uint64_t threads = std::uint64_t{bx} * by * bz;
  const bool some = gx != 0 && gy != 0 && gz != 0 && threads != 0;
  const bool few = gy <= 65535 && gz <= 65535 && bz <= 64 && threads <= kThreadsPerBlock;
  const auto [cx, cy, cz] = launch.cluster;
  const bool whole = cx == 0 || (gx % cx == 0 && gy % cy == 0 && gz % cz == 0);
  return some && few && whole &&
         launch.shared_bytes <= static_cast<unsigned>(launch.function->dynamic_shared_bytes);
}

// As an H200 with kernels of few registers: by threads, and by shared memory.
int blocks_at_once(int threads, std::size_t shared_bytes) {
  constexpr int kThreads = 2048;
  constexpr std::size_t kSharedBytes = 233472, kReserved = 1024;
  return std::min(kThreads / threads, static_cast<int>(kSharedBytes / (shared_bytes + kReserved)));
}

bool is_too_large(const Launch& launch) {
  constexpr std::uint64_t kMultiprocessors = 132;
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  const auto threads = static_cast<int>(bx * by * bz);
  const auto most = static_cast<std::uint64_t>(blocks_at_once(threads, launch.shared_bytes));
  return launch.is_cooperative && std::uint64_t{gx} * gy * gz > most * kMultiprocessors;
}

// The driver keeps the values of the arguments, not their addresses.
void take_values(Launch& launch, void** parameters) {
  const auto bytes = parameter_bytes(launch.function->name);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // Of a struct, one value for each 8 bytes.
    for (std::uint64_t at = 0; at < bytes[i]; at += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, static_cast<const char*>(parameters[i]) + at,
                  std::min<std::uint64_t>(8, bytes[i] - at));
      launch.values.push_back(value);
    }
  }
}

Result submit(Launch launch, Function* function, Stream* stream, void** parameters) {
  // The module may be gone when the launch's turn comes; unloading waits for that.
  launch.function = std::shared_ptr<Function>(std::shared_ptr<Function>(), function);
  if (!fits(launch)) return kInvalidValue;
  if (is_too_large(launch)) return kCooperativeTooLarge;
  if (const Result refused = refusal(function->name); refused != kSuccess) return refused;
  if (waits_for_gpu(*function)) {
    if (const Result result = drain_all(); result != kSuccess) return result;
  }
  take_values(launch, parameters);
  return enqueue(stream, [launch] { return carry_out(launch); });
}

}  // namespace

extern "C" {

Result cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared_bytes, Stream* stream,
                      void** parameters, void** extra) {
  MADE_UP_READY();
  Launch launch;
  launch.grid = {gx, gy, gz};
  launch.block = {bx, by, bz};
  launch.shared_bytes = shared_bytes;
  return extra != nullptr ? Result{kInvalidValue} : submit(launch, function, stream, parameters);
}

Result cuLaunchKernelEx(const LaunchConfig* config, Function* function, void** parameters,
                        void** extra) {
  MADE_UP_READY();
  Launch launch;
  launch.grid = config->grid;
  launch.block = config->block;
  launch.shared_bytes = config->shared_bytes;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kClusterDimension) {
      std::copy_n(attribute.value, 3, launch.cluster.begin());
    } else if (attribute.id == kCooperative) {
      launch.is_cooperative = attribute.value[0] != 0;
    } else {
      return kInvalidValue;
    }
  }
  return extra != nullptr ? Result{kInvalidValue}
                          : submit(launch, function, config->stream, parameters);
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int threads,
                                                   std::size_t shared_bytes) {
  MADE_UP_READY();
  if (shared_bytes > static_cast<std::size_t>(function->dynamic_shared_bytes)) return kInvalidValue;
  *blocks = blocks_at_once(threads, shared_bytes);
  return kSuccess;
}

}  // extern "C"
