#include "sim/standstill.hpp"

#include <algorithm>
#include <utility>

#include "sim/fault.hpp"
#include "sim/paths.hpp"
#include "sim/spin.hpp"

namespace cudaopt::sim {
namespace {

std::uint32_t threads_of(const Block& block) {
  return static_cast<std::uint32_t>(block.warps->front().launch->block.count());
}

}  // namespace

void Standstill::count(const Warp& warp, Waiting waiting, std::uint32_t lanes) {
  for (Waiting& known : m_waiting) {
    if (known.kind != waiting.kind || known.pc != waiting.pc) continue;
    if (known.barrier != waiting.barrier) continue;
    known.threads += static_cast<std::uint32_t>(__builtin_popcount(lanes));
    return;
  }
  waiting.threads = static_cast<std::uint32_t>(__builtin_popcount(lanes));
  waiting.block = warp.block->index;
  waiting.thread = thread_index(warp, __builtin_ctz(lanes));
  m_waiting.push_back(waiting);
}

void Standstill::count_at_barrier(Warp& warp, std::int32_t pc, std::uint32_t lanes_there) {
  const Op& op = warp.launch->program->code[static_cast<std::size_t>(pc)];
  Waiting waiting;
  waiting.kind = Kind::barrier;
  waiting.pc = pc;
  const auto number =
      lanes<std::uint32_t>(warp, op.src[0])[__builtin_ctz(lanes_there)] % std::uint32_t{kBarriers};
  const Barrier& barrier = warp.block->barriers[number];
  waiting.barrier = static_cast<std::int32_t>(number);
  waiting.arrived = std::min(barrier.arrived, threads_of(*warp.block));
  waiting.expected = barrier.expected != 0 ? barrier.expected : threads_of(*warp.block);
  count(warp, waiting, lanes_there);
}

void Standstill::add_splits(Warp& warp) {
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& split = warp.splits[i];
    const std::uint32_t there = split.mask & warp.alive;
    if (there == 0) continue;
    if (split.wait == Wait::barrier) count_at_barrier(warp, split.pc, there);
    if (split.wait != Wait::members && split.wait != Wait::whole_warp) continue;
    Waiting waiting;
    waiting.kind = Kind::members;
    waiting.pc = split.pc;
    count(warp, waiting, there);
  }
}

// Every path of the warp that could have a turn.
bool Standstill::add_running(Warp& warp, RunSlice run_slice, std::uint64_t* executed) {
  std::uint32_t seen = 0;
  do {
    if (waiting_join(warp) >= 0 && oldest_path(warp) < 0) return false;  // those may go on
    Waiting waiting;
    waiting.pc = spin_of(warp, run_slice, executed);
    if (waiting.pc < 0) return false;
    count(warp, waiting, warp.active);
    seen |= warp.active;
  } while (oldest_path(warp) >= 0 && yield(warp) && (warp.active & seen) == 0);
  add_splits(warp);
  return true;
}

bool Standstill::add(Block& block, RunSlice run_slice, std::uint64_t* executed) {
  m_launch = block.warps->front().launch;
  for (Warp& warp : *block.warps) {
    if (warp.state == WarpState::at_barrier) count_at_barrier(warp, warp.barrier_pc, warp.alive);
    if (warp.state == WarpState::running && !add_running(warp, run_slice, executed)) return false;
  }
  return true;
}

std::string Standstill::describe(const Waiting& waiting) const {
  FaultDetail place;
  add_source(*m_launch->program, m_launch->program->code[static_cast<std::size_t>(waiting.pc)],
             place);
  const bool one = waiting.threads == 1;
  std::string text = std::to_string(waiting.threads) + (one ? " thread " : " threads ");
  if (waiting.kind == Kind::spins) text += one ? "goes round" : "go round";
  if (waiting.kind == Kind::members) text += one ? "waits for lanes" : "wait for lanes";
  if (waiting.kind == Kind::barrier) {
    text += std::string(one ? "waits" : "wait") + " at barrier " + std::to_string(waiting.barrier) +
            " (" + std::to_string(waiting.arrived) + " of " + std::to_string(waiting.expected) +
            " have arrived)";
  }
  const std::string line = line_text(place);
  return text + (line.empty() ? "" : " at " + line);
}

Fault Standstill::fault(const std::string& more) const {
  FaultDetail detail;
  detail.kind = FaultKind::no_progress;
  detail.message = "kernel '" + m_launch->program->function->name + "' makes no progress: ";
  for (const Waiting& waiting : m_waiting) {
    detail.message += (&waiting == &m_waiting.front() ? "" : "; ") + describe(waiting);
  }
  detail.message += more;
  const Waiting& first = m_waiting.front();
  add_source(*m_launch->program, m_launch->program->code[static_cast<std::size_t>(first.pc)],
             detail);
  detail.block = first.block;
  detail.thread = first.thread;
  return Fault(std::move(detail));
}

}  // namespace cudaopt::sim
