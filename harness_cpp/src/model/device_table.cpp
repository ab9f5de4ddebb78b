#include "model/device_table.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace cudaopt::model {
namespace {

// Limits: CUDA programming guide, compute capability 9.0. "Measured": one H200, driver 580; where a
// constant was set so that modelled times meet measured ones, it says by which kernel. The table of
// both is in docs/latency_model.md.
constexpr DeviceTable make_h200() {
  DeviceTable table{};
  table.name = "h200";
  table.architecture = "sm_90";
  table.multiprocessors = 132;
  table.warps_per_sm = 64;
  table.blocks_per_sm = 32;
  table.registers_per_sm = 65536;
  table.register_unit = 256;
  table.max_registers_per_thread = 255;
  table.max_threads_per_block = 1024;
  table.shared_bytes_per_sm = 228 * 1024;
  table.shared_bytes_per_block = 227 * 1024;
  table.shared_bytes_reserved_per_block = 1024;
  table.shared_unit_bytes = 128;
  table.l1_and_shared_bytes_per_sm = 256 * 1024;
  // Boost clock of the SXM board; 67 TFLOP/s on paper = 132 SMs * 128 FMA * 2 * 1.98 GHz.
  table.clock_ghz = 1.98;
  table.schedulers_per_sm = 4;
  // Between the 5.5 TB/s of published read tests and the 64 bytes per clock that each SM can take.
  table.l2_bytes_per_ns = 6500;
  table.l2_bytes_per_clock_and_sm = 64;
  // Naive transposes, measured: 4096^2 stores of part of a sector in 249 us, 2^23 in 126 us.
  table.l2_partial_sectors_per_ns = 67;
  // 4.24 TB/s copied, 4.26 by vadd with float4; 4.8 on paper.
  table.dram_bytes_per_ns = 4260;
  // 60 MiB reported; far halves and the flush leave about 50 MB to count on.
  table.l2_bytes = 50'000'000;
  // One per L2 slice; an estimate. What contended atomics cost is a matter of slices:
  // sim/tracer.cpp.
  table.atomic_operations_per_clock = 96;
  // A tiny kernel between events, queued behind an L2 flush: 3.36 us.
  table.launch_ns = 3350;
  // vadd of 2^26: 635 us for 2^20 blocks of 64 threads, 321 us for 2^19 of 128.
  table.block_launch_ns = 0.605;
  // Fitted: vadd takes 238, 253 and 281 us with 8, 16 and 32 warps per block.
  table.warp_start_cycles = 20;
  table.shared_cycles = 30;
  table.l1_hit_cycles = 35;
  table.l2_hit_cycles = 260;
  // Fitted, with the queue in front of DRAM: softmax with one warp per row makes 384 dependent
  // loads in 179 us.
  table.dram_cycles = 900;
  table.shared_atomic_cycles = 60;
  table.global_atomic_cycles = 600;
  table.barrier_cycles = 20;
  table.fp32_rate = 4;
  table.fp64_rate = 2;
  // Two of its own; ptxas moves some integer additions to the multiply-add pipe.
  table.integer_rate = 3;
  table.half_rate = 4;
  table.special_rate = 0.5;
  // mma.sync of m16n8k16 halves; wgmma would reach 1.5 times that.
  table.tensor_rate = 0.66;
  table.lsu_rate = 1;
  table.control_rate = 2;
  return table;
}

constexpr std::array kTables{make_h200()};

}  // namespace

const DeviceTable& device_table(std::string_view name) {
  std::string known;
  for (const DeviceTable& table : kTables) {
    if (table.name == name) return table;
    known += known.empty() ? "" : ", ";
    known += table.name;
  }
  throw std::invalid_argument("sim.model: expected one of " + known + ", got '" +
                              std::string(name) + "'");
}

}  // namespace cudaopt::model
