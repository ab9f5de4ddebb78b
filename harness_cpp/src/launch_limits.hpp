// Refuses launches a GPU would refuse, on every device, and says which limit and what was asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device.hpp"

namespace cudaopt {

// What the kernel itself demands of a launch.
struct KernelFacts {
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t max_threads = 0;                     // of a block; 0: the device's limit alone
  std::string max_threads_of = "__launch_bounds__";  // who sets `max_threads`: "... allows 256"
  std::optional<Dim3> required_block;                // exactly this one
  std::optional<Dim3> compiled_cluster;              // __cluster_dims__
  bool needs_cluster = false;                        // compiled for clusters of whatever shape
};

// Throws Fault invalid_launch that names the kernel.
[[noreturn]] void refuse_launch(const LaunchSpec& spec, const std::string& why);

// Throws Fault invalid_launch: grid, block, shared memory and cluster against the device and the
// kernel.
void check_launch(const LaunchSpec& spec, const KernelFacts& kernel, const DeviceLimits& limits);

// Throws Fault invalid_launch for a cooperative launch of more blocks than are resident at once.
void check_resident(const LaunchSpec& spec, std::uint64_t blocks_per_multiprocessor,
                    const DeviceLimits& limits);
// Throws Fault unknown_entry: the launch's module has no variable of that name.
[[noreturn]] void refuse_unknown_symbol(const LaunchSpec& spec, const SymbolWrite& write);

// Throws Fault invalid_launch unless the variable has as many bytes as the buffer it becomes.
void check_symbol_size(const LaunchSpec& spec, const SymbolWrite& write,
                       std::uint64_t variable_bytes, std::uint64_t buffer_bytes);

}  // namespace cudaopt
