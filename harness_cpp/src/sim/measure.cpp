#include "sim/measure.hpp"

#include <algorithm>
#include <vector>

#include "sim/launch.hpp"
#include "sim/line_counts.hpp"
#include "sim/timed_code.hpp"
#include "sim/tracer.hpp"

namespace cudaopt::sim {
namespace {

constexpr std::uint64_t kAllWarpsUpTo = 1600, kSampledWarps = 512;
constexpr std::uint64_t kFewestBlocks = 16, kMostBlocks = 64;

// Small launches whole. Of others about the same number of warps, whatever the block size: the
// first and last block, and a stride through the middle, since edge blocks differ.
std::vector<std::uint64_t> sampled_blocks(std::uint64_t blocks, std::uint64_t warps) {
  const std::uint64_t few = std::clamp(kSampledWarps / warps, kFewestBlocks, kMostBlocks);
  const std::uint64_t count = blocks * warps <= kAllWarpsUpTo ? blocks : std::min(blocks, few);
  std::vector<std::uint64_t> sample;
  for (std::uint64_t i = 0; i < count; ++i) {
    sample.push_back(count == 1 ? 0 : i * (blocks - 1) / (count - 1));
  }
  return sample;
}

std::vector<model::ArrayFootprint> footprints(const Launch& launch) {
  std::vector<model::ArrayFootprint> arrays;
  for (std::uint64_t i = 1; i < launch.allocation_count; ++i) {
    arrays.push_back({launch.allocations[i].base, launch.allocations[i].bytes});
  }
  return arrays;
}

// Blocks run one at a time here, and only some of them.
[[noreturn]] void refuse_waiting(const Launch& launch, const Fault& fault) {
  throw Fault(FaultKind::unsupported_instruction,
              "sim models no latency of '" + launch.program->function->name +
                  "', whose blocks wait for each other: run on cuda (" + fault.what() + ")");
}

}  // namespace

Measurement measure_launch(Launch& launch, RunSlice run_slice, const model::DeviceTable& table,
                           model::LaunchShape shape, unsigned threads, bool by_line) {
  shape.arrays = footprints(launch);
  const model::TraceSettings settings = model::trace_settings(table, shape);
  const TimedCode code = timed_code(*launch.program);
  const auto warps = static_cast<std::uint32_t>((launch.block.count() + kLanes - 1) / kLanes);
  const std::vector<std::uint64_t> sample = sampled_blocks(launch.grid.count(), warps);
  const ProgramLines lines = by_line ? program_lines(*launch.program) : ProgramLines{};
  if (by_line) shape.lines = lines.lines;
  std::vector<model::BlockTrace> traces(sample.size());
  const auto trace = [&](Worker& worker, std::uint64_t index) {
    BlockTracer tracer(code, settings, warps);
    if (by_line) tracer.count_lines(lines);
    worker.run(sample[index], &tracer);
    traces[index] = tracer.finish(worker.take_counters());
  };
  try {
    for_each_block(launch, run_slice, threads, sample.size(), trace);
  } catch (const Fault& fault) {
    if (fault.detail().kind != FaultKind::no_progress) throw;
    refuse_waiting(launch, fault);
  }
  return model::model_latency(table, shape, traces);
}

}  // namespace cudaopt::sim
