#include "model/latency.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/totals.hpp"
#include "model/traffic.hpp"

namespace cudaopt::model {
namespace {

using Terms = std::vector<std::pair<std::string, double>>;

Occupancy occupancy_of(const DeviceTable& table, const LaunchShape& launch) {
  return occupancy(
      table, launch.block.count(), launch.resources.registers,
      std::uint64_t{launch.resources.static_shared_bytes} + launch.dynamic_shared_bytes);
}

// Blocks that share an SM at any one time: no more than the launch has for it.
std::uint64_t blocks_together(const DeviceTable& table, const LaunchShape& launch,
                              const Occupancy& occupancy) {
  const std::uint64_t per_sm =
      (launch.grid.count() + table.multiprocessors - 1) / table.multiprocessors;
  return std::max<std::uint64_t>(1, std::min<std::uint64_t>(occupancy.blocks_per_sm, per_sm));
}

double warps_of(const LaunchShape& launch) {
  return static_cast<double>((launch.block.count() + 31) / 32);
}

// Newton's method instead of std::cbrt, whose last bits differ between C libraries.
double cube_root(double value) {
  if (value <= 0) return 0;
  double root = value > 1 ? value : 1;
  while (true) {
    const double next = (2 * root + value / (root * root)) / 3;
    if (next >= root) return root;
    root = next;
  }
}

// Resources work at the same time, but never in perfect step: with p = 3 two equal terms cost 26 %
// more than one of them. DRAM is behind L2: the slower of the two sets the pace of both.
double overlapped(const Terms& terms) {
  double cubes = 0, memory = 0;
  for (const auto& [name, ns] : terms) {
    if (name == "l2" || name == "dram") {
      memory = std::max(memory, ns);
    } else {
      cubes += ns * ns * ns;
    }
  }
  return cube_root(cubes + memory * memory * memory);
}

// While some blocks wait, others keep the resources busy: p = 2. Blocks of the first waves start
// together and go through their phases in step, when one adds to the other; with every wave they
// drift apart.
double with_waiting(double busy_ns, double waiting_ns, double waves) {
  const double apart = std::sqrt(busy_ns * busy_ns + waiting_ns * waiting_ns);
  const double in_step = 1 / (2 + waves / 16);
  return apart + in_step * (busy_ns + waiting_ns - apart);
}

double rate_of(const DeviceTable& table, Pipe pipe) {
  switch (pipe) {
    case Pipe::fp32:
      return table.fp32_rate;
    case Pipe::fp64:
      return table.fp64_rate;
    case Pipe::integer:
      return table.integer_rate;
    case Pipe::half:
      return table.half_rate;
    case Pipe::special:
      return table.special_rate;
    case Pipe::tensor:
      return table.tensor_rate;
    case Pipe::memory:
      return table.lsu_rate;
    case Pipe::control:
      return table.control_rate;
  }
  throw std::logic_error("rate_of: a pipe without a rate");
}

// What the SMs do, as if the blocks could be spread over them evenly.
void add_sm_terms(const DeviceTable& table, const LaunchTotals& totals, Terms& terms) {
  const double sm_clocks_per_ns = table.multiprocessors * table.clock_ghz;
  double slots = 0;
  for (const std::uint64_t count : totals.sum.pipe_slots) slots += static_cast<double>(count);
  terms.emplace_back("issue", slots / table.schedulers_per_sm / sm_clocks_per_ns);
  for (std::size_t i = 0; i < kPipes; ++i) {
    const auto pipe = static_cast<Pipe>(i);
    if (pipe == Pipe::memory) continue;  // "lsu"
    const auto count = static_cast<double>(totals.sum.pipe_slots[i]);
    terms.emplace_back(name_of(pipe), count / rate_of(table, pipe) / sm_clocks_per_ns);
  }
  // An instruction takes one wavefront or more; shuffles and votes go this way too.
  const std::uint64_t wavefronts =
      std::max(totals.sum.lsu_wavefronts + totals.sum.shared_atomic_wavefronts,
               totals.sum.pipe_slots[static_cast<std::size_t>(Pipe::memory)]);
  terms.emplace_back(
      "lsu", static_cast<double>(wavefronts) / rate_of(table, Pipe::memory) / sm_clocks_per_ns);
}

void add_memory_terms(const DeviceTable& table, const LaunchTotals& totals, const Traffic& traffic,
                      Terms& terms) {
  const auto sms =
      static_cast<double>(std::min<std::uint64_t>(totals.blocks, table.multiprocessors));
  const double l2_bytes_per_ns =
      std::min(table.l2_bytes_per_ns, sms * table.l2_bytes_per_clock_and_sm * table.clock_ghz);
  terms.emplace_back("l2", traffic.l2_bytes / l2_bytes_per_ns +
                               traffic.l2_partial_sectors / table.l2_partial_sectors_per_ns);
  terms.emplace_back("dram", traffic.dram_bytes / table.dram_bytes_per_ns);
  const double spread_out =
      static_cast<double>(totals.sum.global_atomic_operations) / table.atomic_operations_per_clock;
  const auto one_slice = static_cast<double>(totals.hottest_granule_operations);
  terms.emplace_back("atomics", std::max(spread_out, one_slice) / table.clock_ghz);
}

// One block with nothing in its way but latencies.
double block_ns(const DeviceTable& table, const LaunchShape& launch, const LaunchTotals& totals,
                const Traffic& traffic) {
  const double dram_extra = table.dram_cycles - table.l2_hit_cycles;
  const double cycles = totals.mean_critical_cycles -
                        totals.mean_first_misses * (1 - traffic.cold_share) * dram_extra +
                        totals.mean_repeat_misses * traffic.spilled_share * dram_extra +
                        table.warp_start_cycles * warps_of(launch);
  return cycles / table.clock_ghz;
}

// The SM with the most blocks works longer than the mean: what that adds to the longest SM term.
double tail_ns(const DeviceTable& table, std::uint64_t blocks, const Terms& sm_terms) {
  double longest = 0;
  for (const auto& [name, ns] : sm_terms) longest = std::max(longest, ns);
  const std::uint64_t busiest = (blocks + table.multiprocessors - 1) / table.multiprocessors;
  const double mean = static_cast<double>(blocks) / table.multiprocessors;
  return longest * (static_cast<double>(busiest) / mean - 1);
}

std::string largest_of(const Terms& terms) {
  return std::max_element(terms.begin(), terms.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Lines of which nothing was executed count nothing.
std::vector<LineCounters> named(const std::vector<SourcePoint>& lines,
                                const std::vector<Counters>& counts) {
  std::vector<LineCounters> result;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].total_warp_instructions() != 0) result.push_back({lines[i], counts[i]});
  }
  return result;
}

}  // namespace

TraceSettings trace_settings(const DeviceTable& table, const LaunchShape& launch) {
  const Occupancy fits = occupancy_of(table, launch);
  const std::uint64_t together = blocks_together(table, launch, fits);
  const std::uint64_t shared = std::uint64_t{launch.resources.static_shared_bytes} +
                               launch.dynamic_shared_bytes + table.shared_bytes_reserved_per_block;
  const std::uint64_t carved =
      std::min<std::uint64_t>(shared * together, table.shared_bytes_per_sm);
  TraceSettings settings;
  settings.l1_bytes =
      static_cast<std::uint32_t>((table.l1_and_shared_bytes_per_sm - carved) / together);
  settings.l1_hit_cycles = table.l1_hit_cycles;
  settings.l2_hit_cycles = table.l2_hit_cycles;
  settings.dram_cycles = table.dram_cycles;
  settings.shared_cycles = table.shared_cycles;
  settings.barrier_cycles = table.barrier_cycles;
  settings.shared_atomic_cycles = table.shared_atomic_cycles;
  settings.global_atomic_cycles = table.global_atomic_cycles;
  return settings;
}

Measurement model_latency(const DeviceTable& table, const LaunchShape& launch,
                          const std::vector<BlockTrace>& traces) {
  if (traces.empty())
    throw std::invalid_argument("model_latency: expected a traced block, got none");
  const std::uint64_t blocks = launch.grid.count();
  const LaunchTotals totals = launch_totals(blocks, traces);
  Measurement result;
  result.kind = Measurement::Kind::modelled;
  result.occupancy = occupancy_of(table, launch);
  const std::uint64_t together = blocks_together(table, launch, result.occupancy);
  const std::uint64_t resident = std::min(blocks, together * table.multiprocessors);
  const Traffic traffic = traffic_of(table, launch, totals, resident, together);
  Terms terms;
  add_sm_terms(table, totals, terms);
  const double tail = tail_ns(table, blocks, terms);
  add_memory_terms(table, totals, traffic, terms);
  const double busy = overlapped(terms);
  const auto waves = static_cast<double>((blocks + resident - 1) / resident);
  const double waiting = waves * block_ns(table, launch, totals, traffic);
  // Handing out blocks costs nothing until everything waits for it.
  const double handing_out = static_cast<double>(blocks) * table.block_launch_ns;
  result.median_ns =
      table.launch_ns + std::max(with_waiting(busy, waiting, waves), handing_out) + tail;
  terms.emplace_back("latency", waiting);
  terms.emplace_back("blocks", handing_out);
  terms.emplace_back("tail", tail);
  terms.emplace_back("launch", table.launch_ns);
  result.bound = largest_of(terms);
  result.terms_ns = std::move(terms);
  result.blocks_sampled = traces.size();
  result.blocks = blocks;
  result.counters = totals.sum.counters;
  result.spread = totals.spread;
  if (launch.lines) result.by_line = named(*launch.lines, totals.sum.by_line);
  return result;
}

}  // namespace cudaopt::model
