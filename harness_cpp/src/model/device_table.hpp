// What the model knows about a GPU: limits, rates and latencies, each with its source.
#pragma once

#include <cstdint>
#include <string_view>

namespace cudaopt::model {

struct DeviceTable {
  std::string_view name;
  std::string_view architecture;

  // Limits, as the CUDA programming guide lists them for the architecture.
  std::uint32_t multiprocessors;
  std::uint32_t warps_per_sm, blocks_per_sm, registers_per_sm;
  std::uint32_t register_unit;  // per warp, registers are given out in these units
  std::uint32_t max_registers_per_thread, max_threads_per_block;
  std::uint32_t shared_bytes_per_sm, shared_bytes_per_block, shared_bytes_reserved_per_block;
  std::uint32_t shared_unit_bytes;
  std::uint32_t l1_and_shared_bytes_per_sm;

  // Rates.
  double clock_ghz;
  std::uint32_t schedulers_per_sm;  // one warp instruction per clock each
  double l2_bytes_per_ns, l2_partial_sectors_per_ns;
  double l2_bytes_per_clock_and_sm;  // what one SM can take of it
  double dram_bytes_per_ns;
  std::uint64_t l2_bytes;              // capacity a kernel can count on
  double atomic_operations_per_clock;  // whole L2
  double launch_ns, block_launch_ns;
  std::uint32_t warp_start_cycles;  // warps of one block start, and retire, one after another

  // Latencies in cycles, issue to use.
  std::uint32_t shared_cycles, l1_hit_cycles, l2_hit_cycles, dram_cycles;
  std::uint32_t shared_atomic_cycles, global_atomic_cycles, barrier_cycles;

  // Warp instructions per clock and SM, by pipe; see `Pipe`.
  double fp32_rate, fp64_rate, integer_rate, half_rate, special_rate, tensor_rate, lsu_rate,
      control_rate;
};

// Throws std::invalid_argument naming the known tables.
[[nodiscard]] const DeviceTable& device_table(std::string_view name);

}  // namespace cudaopt::model
