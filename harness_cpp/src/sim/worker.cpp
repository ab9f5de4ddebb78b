#include "sim/worker.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "sim/clock.hpp"
#include "sim/fault.hpp"
#include "sim/fixed_slots.hpp"
#include "sim/paths.hpp"
#include "sim/printed_text.hpp"
#include "sim/tracer.hpp"

namespace cudaopt::sim {
namespace {

// Of a block that has nothing to do but wait, and of which it cannot be told that it waits for
// ever.
constexpr std::uint64_t kLongestWait = std::uint64_t{1} << 29;

constexpr std::uint64_t kFirstLook = 16;  // turns in which nobody did anything

// Without those that decode inserted, and those spent waiting for others, of which there are more
// or less by the order of turns.
std::uint64_t own_instructions(const Block& block) {
  return block.instructions - block.inserted - block.spun;
}

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

}  // namespace

Worker::Memory Worker::make_memory(std::uint64_t bytes) {
  return Memory(new (kAlignment) std::uint8_t[bytes + static_cast<std::uint64_t>(kAlignment)]());
}

Worker::Worker(Launch& launch, RunSlice run_slice)
    : m_launch(launch),
      m_run_slice(run_slice),
      m_threads(static_cast<std::uint32_t>(launch.block.count())),
      m_patterns(launch.program->patterns),
      m_executed(launch.program->code.size()),
      m_frames(*launch.program, (m_threads + kLanes - 1) / kLanes),
      m_turns(launch.order, (m_threads + kLanes - 1) / kLanes) {
  const Program& program = *launch.program;
  const std::uint32_t warps = (m_threads + kLanes - 1) / kLanes;
  m_registers = make_memory(std::uint64_t{program.register_bytes} * warps);
  m_predicates.resize(std::size_t{program.predicates} * warps);
  m_shared = make_memory(launch.shared_bytes);
  m_local = make_memory(std::uint64_t{program.local_stack_bytes} * warps * kLanes);
  m_warps.resize(warps);
  m_spins.resize(warps);
  m_reads_clock = std::any_of(program.code.begin(), program.code.end(), reads_clock);
  make_warps();
  if (program.shadow != nullptr) {
    m_shadow = std::make_unique<WorkerShadow>(
        launch, m_warps, std::uint64_t{program.local_stack_bytes} * warps * kLanes);
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
    fill_launch_slots(warp, program);
    m_frames.keep_kernel_frame(warp);
  }
  m_block.warps = &m_warps;
  m_block.patterns = m_patterns.data();
  m_block.shared = m_shared.get();
  m_block.shared_bytes = m_launch.shared_bytes;
  m_block.local = m_local.get();
  m_block.local_bytes = program.local_stack_bytes;
  m_block.frames = &m_frames;
  m_block.executed = &m_executed;
  if (m_launch.watch == nullptr) return;
  m_watch = std::make_unique<BlockWatch>(*m_launch.watch, m_block);
  m_block.watch = m_watch.get();
}

void Worker::begin(std::uint64_t block, BlockTracer* tracer) {
  m_block.tracer = tracer;
  const Dim3& grid = m_launch.grid;
  m_block.linear = block;
  m_block.index = {static_cast<std::uint32_t>(block % grid.x),
                   static_cast<std::uint32_t>(block / grid.x % grid.y),
                   static_cast<std::uint32_t>(block / grid.x / grid.y)};
  m_block.instructions = m_block.inserted = m_block.spun = 0;
  m_block.left.clear();
  m_block.barriers.fill(Barrier{});
  m_block.copies.clear();
  std::memset(m_block.shared, kUnwritten, m_block.shared_bytes);
  for (std::uint64_t thread = 0; thread < m_warps.size() * kLanes; ++thread) {
    std::memset(m_block.local + thread * m_block.local_bytes, kUnwritten,
                m_launch.program->local_bytes);
  }
  m_block.printed.clear();
  for (Warp& warp : m_warps) begin_warp(warp);
  if (m_shadow != nullptr) m_shadow->begin_block();
  m_turns.begin(block);
  m_idle_turns = 0;
  m_spins.assign(m_warps.size(), SpinWatch{});
  if (m_watch != nullptr) m_watch->begin();
}

void Worker::begin_warp(Warp& warp) {
  const std::uint32_t threads = m_threads - warp.index * kLanes;
  warp.alive = warp.active = threads >= kLanes ? kAllLanes : (1u << threads) - 1;
  warp.pc = 0;
  warp.reconverge = -1;
  warp.state = WarpState::running;
  warp.split_count = 0;
  warp.parked = warp.let_past = 0;
  warp.barrier = -1;
  warp.carry = 0;
  warp.instructions = 0;
  m_frames.begin(warp);
  fill_block_slots(warp, *m_launch.program);
  fill_frame_slots(warp, *m_launch.program);
}

std::uint32_t Worker::run_slice(Warp& warp, std::uint32_t limit) {
  const std::uint32_t executed =
      m_run_slice(warp, m_launch.program->code.data(), limit, m_executed.data());
  if (warp.state == WarpState::interrupted) warp.state = WarpState::running;
  return executed;
}

std::uint32_t Worker::run_traced(Warp& warp, std::uint32_t limit) {
  std::uint32_t executed = 0;
  while (executed < limit && warp.state == WarpState::running) {
    const Op& op = m_launch.program->code[static_cast<std::size_t>(warp.pc)];
    const std::uint32_t mask = executing_lanes(warp, op);
    if (mask != 0) m_block.tracer->step(warp, op, mask);
    executed += run_slice(warp, 1);
    m_block.tracer->executed(op, m_counters);
  }
  return executed;
}

std::uint32_t Worker::run_followed(Warp& warp, std::uint32_t limit) {
  std::uint32_t executed = 0;
  while (executed < limit && warp.state == WarpState::running) {
    const Op& op = m_launch.program->code[static_cast<std::size_t>(warp.pc)];
    m_watch->undefined().step(warp, op, executing_lanes(warp, op));
    executed += run_slice(warp, 1);
  }
  return executed;
}

std::uint32_t Worker::run_warp(Warp& warp, std::uint32_t limit) {
  if (m_block.tracer != nullptr) return run_traced(warp, limit);
  std::uint32_t executed = 0;
  while (executed < limit && warp.state == WarpState::running) {
    const bool followed = m_watch != nullptr && m_watch->undefined().follows(warp);
    executed += followed ? run_followed(warp, limit - executed) : run_slice(warp, limit - executed);
  }
  return executed;
}

// Other lanes of a warp have turns when the running ones have waited for long.
bool Worker::give_turn(Warp& warp) {
  SpinWatch& spin = m_spins[warp.index];
  const Program& program = *m_launch.program;
  const std::uint32_t limit = std::min(m_turns.slice(), spin.longest_turn());
  const std::uint64_t inserted = m_block.inserted;
  spin.begin_turn(program, m_executed);
  if (m_reads_clock) {
    m_block.executed_before =
        std::accumulate(m_executed.begin(), m_executed.end(), std::uint64_t{0});
  }
  const std::uint32_t executed = run_warp(warp, limit);
  spin.end_turn(program, m_executed, executed);
  m_block.instructions += executed;
  warp.instructions += executed;
  if (spin.spins()) m_block.spun += executed - (m_block.inserted - inserted);
  if (own_instructions(m_block) > m_launch.block_instructions || m_block.spun > kLongestWait) {
    fail_budget(warp);
  }
  if (warp.state != WarpState::running) return true;
  if ((m_turns.yields() || spin.is_impatient()) && yield(warp)) spin.has_yielded();
  return !spin.spins();
}

bool Worker::advance() {
  bool ran = false, idle = true;
  for (const std::uint32_t index : m_turns.next_round()) {
    Warp& warp = m_warps[index];
    if (warp.state != WarpState::running) continue;
    ran = true;
    if (give_turn(warp)) idle = false;
  }
  m_idle_turns = idle ? m_idle_turns + 1 : 0;
  return ran;
}

void Worker::run(std::uint64_t block, BlockTracer* tracer) {
  begin(block, tracer);
  std::uint64_t next_look = kFirstLook;
  while (advance()) {
    if (m_idle_turns < next_look) continue;
    next_look *= 2;
    Standstill standstill;
    if (add_to(standstill)) throw standstill.fault("");
  }
  finish();
}

bool Worker::add_to(Standstill& standstill) {
  const bool still = standstill.add(m_block, m_run_slice, m_executed.data());
  for (Warp& warp : m_warps)
    if (warp.state == WarpState::interrupted) warp.state = WarpState::running;
  return still;
}

void Worker::finish() {
  const bool ended = std::all_of(m_warps.begin(), m_warps.end(),
                                 [](const Warp& warp) { return warp.state == WarpState::exited; });
  if (!ended) {
    Standstill standstill;
    static_cast<void>(add_to(standstill));  // no warp runs: it is one
    throw standstill.fault("");
  }
  if (m_watch != nullptr) m_watch->finish();
  keep_printed();
  m_counters.blocks += 1;
  m_counters.warps += m_warps.size();
  m_counters.threads += m_threads;
  m_counters.max_block_instructions =
      std::max(m_counters.max_block_instructions, own_instructions(m_block));
}

void Worker::keep_printed() {
  if (m_launch.printed != nullptr) m_launch.printed->add(m_block.linear, m_block.printed);
  m_block.printed.clear();
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
