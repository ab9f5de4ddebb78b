#include "sim/worker.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/fault.hpp"
#include "sim/fixed_slots.hpp"
#include "sim/tracer.hpp"

namespace cudaopt::sim {
namespace {

// Instructions a warp executes before the next one has its turn: short enough that warps walk
// through memory side by side, as on hardware.
constexpr std::uint32_t kSlice = 256;

// Memory nobody has written yet: as floats, NaN; as indices, out of every range.
constexpr int kUnwritten = 0xff;

[[noreturn]] void fail_at(const Warp& warp, std::int32_t pc, FaultDetail detail) {
  fail(warp, warp.launch->program->code[static_cast<std::size_t>(pc)],
       __builtin_ctz(warp.active | 1u << (kLanes - 1)), std::move(detail));
}

[[noreturn]] void fail_budget(const Warp& warp) {
  FaultDetail detail;
  detail.kind = FaultKind::timeout;
  detail.message = "kernel '" + warp.launch->program->function->name +
                   "': one block executed more than " +
                   std::to_string(warp.launch->block_instructions) +
                   " warp instructions (an endless loop, or a larger budget is needed)";
  fail_at(warp, warp.pc, std::move(detail));
}

[[noreturn]] void fail_stuck(const Warp& warp) {
  FaultDetail detail;
  detail.kind = FaultKind::timeout;
  detail.message = "kernel '" + warp.launch->program->function->name +
                   "' makes no progress: warps wait at a barrier the others will never reach";
  fail_at(warp, warp.barrier_pc, std::move(detail));
}

}  // namespace

Worker::Memory Worker::make_memory(std::uint64_t bytes) {
  return Memory(new (kAlignment) std::uint8_t[bytes + static_cast<std::uint64_t>(kAlignment)]());
}

Worker::Worker(Launch& launch, RunSlice run_slice)
    : m_launch(launch),
      m_run_slice(run_slice),
      m_threads(static_cast<std::uint32_t>(launch.block.count())),
      m_patterns(launch.program->patterns),
      m_executed(launch.program->code.size()) {
  const Program& program = *launch.program;
  const std::uint32_t warps = (m_threads + kLanes - 1) / kLanes;
  m_registers = make_memory(std::uint64_t{program.register_bytes} * warps);
  m_predicates.resize(std::size_t{program.predicates} * warps);
  m_shared = make_memory(launch.shared_bytes);
  m_local = make_memory(std::uint64_t{program.local_bytes} * warps * kLanes);
  m_warps.resize(warps);
  make_warps();
  if (program.shadow != nullptr) {
    m_shadow = std::make_unique<WorkerShadow>(launch, m_warps,
                                              std::uint64_t{program.local_bytes} * warps * kLanes);
  }
}

void Worker::make_warps() {
  const Program& program = *m_launch.program;
  for (std::size_t i = 0; i < m_warps.size(); ++i) {
    Warp& warp = m_warps[i];
    warp.index = static_cast<std::uint32_t>(i);
    warp.registers = m_registers.get() + std::size_t{program.register_bytes} * i;
    warp.predicates = m_predicates.data() + std::size_t{program.predicates} * i;
    warp.block = &m_block;
    warp.launch = &m_launch;
    warp.counters = &m_counters;
    fill_launch_slots(warp);
  }
  m_block.warps = &m_warps;
  m_block.patterns = m_patterns.data();
  m_block.shared = m_shared.get();
  m_block.shared_bytes = m_launch.shared_bytes;
  m_block.local = m_local.get();
  m_block.local_bytes = program.local_bytes;
}

void Worker::begin(std::uint64_t block, BlockTracer* tracer) {
  m_block.tracer = tracer;
  const Dim3& grid = m_launch.grid;
  m_block.linear = block;
  m_block.index = {static_cast<std::uint32_t>(block % grid.x),
                   static_cast<std::uint32_t>(block / grid.x % grid.y),
                   static_cast<std::uint32_t>(block / grid.x / grid.y)};
  m_block.instructions = m_block.inserted = 0;
  m_block.barriers.fill(Barrier{});
  std::memset(m_block.shared, kUnwritten, m_block.shared_bytes);
  std::memset(m_block.local, kUnwritten, m_block.local_bytes * m_warps.size() * kLanes);
  for (Warp& warp : m_warps) begin_warp(warp);
  if (m_shadow != nullptr) m_shadow->begin_block();
}

void Worker::begin_warp(Warp& warp) {
  const Program& program = *m_launch.program;
  const std::uint32_t threads = m_threads - warp.index * kLanes;
  warp.alive = warp.active = threads >= kLanes ? kAllLanes : (1u << threads) - 1;
  warp.pc = 0;
  warp.reconverge = -1;
  warp.state = WarpState::running;
  warp.split_count = 0;
  warp.parked = 0;
  warp.barrier = -1;
  warp.carry = 0;
  if (program.reads_unwritten) {
    std::memset(warp.registers, 0, program.written_register_bytes);
    std::fill_n(warp.predicates, program.written_predicates, 0u);
  }
  fill_block_slots(warp);
}

std::uint32_t Worker::run_traced(Warp& warp) {
  std::uint32_t executed = 0;
  while (executed < kSlice && warp.state == WarpState::running) {
    const Op& op = m_launch.program->code[static_cast<std::size_t>(warp.pc)];
    std::uint32_t mask = warp.active;
    if (op.guard >= 0 && !op.is_branch) {
      const std::uint32_t predicate = warp.predicates[op.guard];
      mask &= op.guard_negated ? ~predicate : predicate;
    }
    if (mask != 0) m_block.tracer->step(warp, op, mask);
    executed += m_run_slice(warp, m_launch.program->code.data(), 1, m_executed.data());
  }
  return executed;
}

bool Worker::advance() {
  bool ran = false;
  for (Warp& warp : m_warps) {
    if (warp.state != WarpState::running) continue;
    ran = true;
    m_block.instructions +=
        m_block.tracer != nullptr
            ? run_traced(warp)
            : m_run_slice(warp, m_launch.program->code.data(), kSlice, m_executed.data());
    if (m_block.instructions - m_block.inserted > m_launch.block_instructions) fail_budget(warp);
  }
  return ran;
}

void Worker::run(std::uint64_t block, BlockTracer* tracer) {
  begin(block, tracer);
  while (advance()) {
  }
  finish();
}

void Worker::finish() {
  for (const Warp& warp : m_warps) {
    if (warp.state != WarpState::exited) fail_stuck(warp);
  }
  m_counters.blocks += 1;
  m_counters.warps += m_warps.size();
  m_counters.threads += m_threads;
  m_counters.max_block_instructions =
      std::max(m_counters.max_block_instructions, m_block.instructions - m_block.inserted);
}

Counters Worker::take_counters() {
  Counters counters = std::exchange(m_counters, {});
  const std::vector<Op>& code = m_launch.program->code;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const std::uint64_t executed = std::exchange(m_executed[pc], 0);
    if (code[pc].instruction < 0) continue;
    counters.warp_instructions[static_cast<std::size_t>(code[pc].pipe)] += executed;
  }
  return counters;
}

}  // namespace cudaopt::sim
