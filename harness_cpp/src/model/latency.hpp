// The modelled latency of one launch: what is collected from sampled blocks, and what is made of
// it. Counts are integers and every sum runs in a fixed order: equal bits on every host.
//
// For the device that executes the blocks (`measure`):
//   1. `trace_settings` before the first block: the caches and latencies one block sees.
//   2. One `sim::BlockTracer` (sim/tracer.hpp) per sampled block, called once per executed
//      instruction; its `finish` gives a BlockTrace.
//   3. `model_latency` over the traces, in ascending order of block index.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "device.hpp"
#include "model/device_table.hpp"
#include "model/occupancy.hpp"

namespace cudaopt::model {

// An allocation the kernel can reach. Traces name it by `base` (sim/memory.hpp: 2^40 apart).
struct ArrayFootprint {
  std::uint64_t base = 0, bytes = 0;
};

struct LaunchShape {
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  Resources resources;
  std::vector<ArrayFootprint> arrays;
  std::optional<std::vector<SourcePoint>> lines;  // where counters by line are asked for
};

// What one block sees of the memory system while `blocks_per_sm` of its kind share an SM.
struct TraceSettings {
  std::uint32_t l1_bytes = 0;
  std::uint32_t l1_hit_cycles = 0, l2_hit_cycles = 0, dram_cycles = 0;
  std::uint32_t shared_cycles = 0, barrier_cycles = 0;
  std::uint32_t shared_atomic_cycles = 0, global_atomic_cycles = 0;
};

// Distinct memory one block touched in one allocation: 32-byte sectors, and the 64-byte units in
// which DRAM moves them.
struct ArrayTouch {
  std::uint64_t base = 0;
  std::uint64_t read_sectors = 0, written_sectors = 0;
  std::uint64_t read_units = 0, written_units = 0;
  std::uint64_t filled_units = 0;  // written in part and never read: L2 must fetch the rest
};

// Atomics that meet in one L2 slice: 512-byte granules serialise their operations.
struct AtomicGranule {
  std::uint64_t address = 0;     // of its first byte
  std::uint64_t operations = 0;  // distinct addresses per request, summed over requests
};

struct BlockTrace {
  Counters counters;
  // Issue slots of the likely machine code: ptxas drops moves, expands divisions
  // (sim/timed_code.hpp).
  std::array<std::uint64_t, kPipes> pipe_slots{};
  std::uint64_t lsu_wavefronts = 0;  // of shared memory, plus one per line a request touches
  std::uint64_t l1_hit_sectors = 0;
  std::uint64_t l2_read_sectors = 0;     // loads that missed L1
  std::uint64_t l2_written_sectors = 0;  // stores of a whole sector by one request
  std::uint64_t l2_partial_sectors = 0;  // stores of a part of one
  std::uint64_t global_atomic_operations = 0;
  std::uint64_t shared_atomic_wavefronts = 0;
  std::uint64_t critical_cycles = 0;         // slowest warp, every first touch served by DRAM
  std::uint64_t critical_first_misses = 0;   // L1 misses on that path: first touches by this block
  std::uint64_t critical_repeat_misses = 0;  // ... and sectors it had touched before
  std::vector<ArrayTouch> touched;           // ascending base
  std::vector<AtomicGranule> granules;       // ascending address; global atomics only
  std::vector<Counters> by_line;             // of LaunchShape::lines
};

[[nodiscard]] TraceSettings trace_settings(const DeviceTable& table, const LaunchShape& launch);

// `traces` must hold one entry or more. The terms are listed by name in PROTOCOL.md, "latency".
[[nodiscard]] Measurement model_latency(const DeviceTable& table, const LaunchShape& launch,
                                        const std::vector<BlockTrace>& traces);

}  // namespace cudaopt::model
