#include "sim/frames.hpp"

#include <cstring>
#include <string>

#include "sim/block_watch.hpp"
#include "sim/fault.hpp"
#include "sim/fixed_slots.hpp"
#include "sim/stack_limit.hpp"

namespace cudaopt::sim {
namespace {

[[noreturn]] void fail_overflow(const Warp& warp, const Routine& routine, const Op& call,
                                std::uint32_t mask) {
  std::uint32_t depth = 0;
  for (const Frame* frame = warp.frame; frame->caller != nullptr; frame = frame->caller) ++depth;
  FaultDetail detail;
  detail.kind = FaultKind::illegal_address;
  detail.space = "local";
  detail.message = "kernel '" + warp.launch->program->function->name + "' overflows its stack: '" +
                   routine.function->name + "' is called " + std::to_string(depth) +
                   " calls deep, where a thread's " +
                   std::to_string(warp.launch->program->stack_bytes) + " bytes of stack end";
  fail(warp, call, __builtin_ctz(mask), std::move(detail));
}

void place_local_memory(Warp& warp, const Frame& caller, Frame& frame) {
  const Routine& routine = *frame.routine;
  if (routine.local_bytes == 0) {
    frame.local_begin = frame.local_end = caller.local_end;
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    frame.local_begin[i] = (caller.local_end[i] + 15) / 16 * 16;
    frame.local_end[i] = frame.local_begin[i] + routine.local_bytes;
    forget_local(warp, lane, frame.local_begin[i], routine.local_bytes);
  }
}

}  // namespace

void forget_local(const Warp& warp, int lane, std::uint32_t offset, std::uint32_t bytes) {
  std::memset(local_memory(warp, lane) + offset, kUnwritten, bytes);
  if (warp.block->watch == nullptr) return;
  warp.block->watch->forget_local(warp.index * kLanes + static_cast<std::uint64_t>(lane), offset,
                                  bytes);
}

void make_current(Warp& warp, Frame& frame) {
  warp.frame = &frame;
  warp.registers = frame.registers;
  warp.predicates = frame.predicates;
}

Frames::Frames(const Program& program, std::size_t warps)
    : m_program(program),
      m_kernel(warps),
      m_stored(warps * program.routines.size()),
      m_free(m_stored.size()) {}

void Frames::keep_kernel_frame(const Warp& warp) {
  Frame& frame = m_kernel[warp.index];
  frame.registers = warp.registers;
  frame.predicates = warp.predicates;
}

void Frames::begin(Warp& warp) {
  Frame& frame = m_kernel[warp.index];
  frame.local_end.fill(m_program.local_bytes);
  make_current(warp, frame);
}

std::size_t Frames::list_of(const Warp& warp, const Routine& routine) const {
  const auto index = static_cast<std::size_t>(&routine - m_program.routines.data());
  return warp.index * m_program.routines.size() + index;
}

Frames::Stored& Frames::take(Warp& warp, const Routine& routine) {
  const std::size_t list = list_of(warp, routine);
  if (!m_free[list].empty()) {
    Stored& stored = *m_free[list].back();
    m_free[list].pop_back();
    make_current(warp, stored);
    return stored;
  }
  Stored& stored = *m_stored[list].emplace_back(std::make_unique<Stored>());
  stored.lines.resize((routine.register_bytes + sizeof(Line) - 1) / sizeof(Line));
  stored.predicate_words.resize(routine.predicates);
  stored.routine = &routine;
  stored.registers = reinterpret_cast<std::uint8_t*>(stored.lines.data());
  stored.predicates = stored.predicate_words.data();
  make_current(warp, stored);
  fill_launch_slots(warp, routine);
  return stored;
}

Frame& Frames::enter(Warp& warp, const Routine& routine, const Op& call, std::uint32_t mask) {
  Frame& caller = *warp.frame;
  const std::uint32_t stack_bytes = caller.stack_bytes + stack_bytes_of(routine);
  if (stack_bytes > m_program.stack_bytes) fail_overflow(warp, routine, call, mask);
  Stored& frame = take(warp, routine);
  frame.caller = &caller;
  frame.call_pc = call.pc;
  frame.stack_bytes = stack_bytes;
  place_local_memory(warp, caller, frame);
  if (frame.block != warp.block->linear) fill_block_slots(warp, routine);
  frame.block = warp.block->linear;
  fill_frame_slots(warp, routine);
  return frame;
}

void Frames::leave(const Warp& warp, Frame& frame) {
  m_free[list_of(warp, *frame.routine)].push_back(static_cast<Stored*>(&frame));
}

}  // namespace cudaopt::sim
