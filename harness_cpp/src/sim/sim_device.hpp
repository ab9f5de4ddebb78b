// The device without a GPU: executes PTX on the CPU, checks every access, and models the latency.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device.hpp"

namespace cudaopt {

struct SimOptions {
  unsigned threads = 0;                  // 0: all cores; never changes a result
  std::string isa = "auto";              // "auto", "x86-64", "x86-64-v3"; never changes a result
  std::string model = "h200";            // device table for limits, occupancy, latency
  std::uint64_t block_instructions = 0;  // warp instructions one block may execute; 0: 2^31
};

// Throws Fault invalid_request for an unknown isa or model, or an isa this machine cannot run.
[[nodiscard]] std::unique_ptr<Device> make_sim_device(const SimOptions& options);

}  // namespace cudaopt
