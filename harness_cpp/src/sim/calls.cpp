#include "sim/calls.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "sim/block.hpp"
#include "sim/control.hpp"
#include "sim/fault.hpp"
#include "sim/frames.hpp"
#include "sim/paths.hpp"

namespace cudaopt::sim {
namespace {

constexpr std::size_t kWordBytes = kLanes * sizeof(std::uint32_t);

const std::uint32_t* word_of(const Frame& frame, const ParameterWords& of, std::uint32_t word) {
  return reinterpret_cast<const std::uint32_t*>(frame.registers + of.offset + word * kWordBytes);
}

std::uint32_t* word_of(Frame& frame, const ParameterWords& of, std::uint32_t word) {
  return reinterpret_cast<std::uint32_t*>(frame.registers + of.offset + word * kWordBytes);
}

// A new frame's arguments belong to its lanes alone: all of them are copied.
void copy_arguments(const Frame& caller, const CallSite& site, Frame& callee) {
  const std::vector<ParameterWords>& to = callee.routine->arguments;
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::memcpy(word_of(callee, to[i], 0), word_of(caller, site.arguments[i], 0),
                to[i].words() * kWordBytes);
  }
}

void copy_results(const Frame& callee, const CallSite& site, std::uint32_t mask, Frame& caller) {
  const std::vector<ParameterWords>& from = callee.routine->results;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::uint32_t word = 0; word < from[i].words(); ++word) {
      const std::uint32_t* value = word_of(callee, from[i], word);
      std::uint32_t* to = word_of(caller, site.results[i], word);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        to[lane] = (mask >> lane & 1u) != 0 ? value[lane] : to[lane];
      }
    }
  }
}

bool same_words(const std::vector<ParameterWords>& a, const std::vector<ParameterWords>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.words() == y.words(); });
}

const CallSite& site_of(const Warp& warp, const Op& op) {
  return warp.launch->program->calls[static_cast<std::size_t>(op.aux)];
}

std::int32_t enter(Warp& warp, const Op& op, const Routine& routine, std::uint32_t mask) {
  Frame& caller = *warp.frame;
  Frame& callee = warp.block->frames->enter(warp, routine, op, mask);
  copy_arguments(caller, site_of(warp, op), callee);
  Split behind{op.pc + 1, warp.active, warp.reconverge, Wait::none, &caller, &callee};
  push_path(warp, behind);
  warp.active = mask;
  warp.reconverge = -1;
  return routine.first_pc;
}

[[noreturn]] void fail_pointer(const Warp& warp, const Op& op, int lane, const std::string& what) {
  FaultDetail detail;
  detail.kind = FaultKind::illegal_address;
  detail.message = "kernel '" + warp.launch->program->function->name + "' calls " + what;
  fail(warp, op, lane, std::move(detail));
}

const Routine& routine_at(const Warp& warp, const Op& op, std::uint64_t address, int lane) {
  const std::vector<Routine>& routines = warp.launch->program->routines;
  const auto found = std::find_if(routines.begin(), routines.end(), [&](const Routine& routine) {
    return address != 0 && routine.address == address;
  });
  if (found == routines.end()) {
    fail_pointer(warp, op, lane,
                 "a function at address " + std::to_string(address) +
                     ", where none is (a null or corrupted pointer)");
  }
  const CallSite& site = site_of(warp, op);
  if (!same_words(site.arguments, found->arguments) || !same_words(site.results, found->results)) {
    fail_pointer(warp, op, lane,
                 "'" + found->function->name + "' through a pointer to another type of function");
  }
  return *found;
}

}  // namespace

std::int32_t call_function(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::int32_t routine = site_of(warp, op).routine;
  return enter(warp, op, warp.launch->program->routines[static_cast<std::size_t>(routine)], mask);
}

std::int32_t call_through_pointer(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint64_t* addresses = lanes<std::uint64_t>(warp, op.src[0]);
  const int first = __builtin_ctz(mask);
  const Routine& routine = routine_at(warp, op, addresses[first], first);
  std::uint32_t others = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    if (addresses[__builtin_ctz(rest)] != addresses[first]) others |= rest & (0u - rest);
  }
  if (others == 0) return enter(warp, op, routine, mask);
  ++warp.counters->divergent_branches;
  split_off(warp, op.pc, others, op.pc + 1);
  warp.active = mask & ~others;
  return enter(warp, op, routine, warp.active);
}

std::int32_t return_lanes(Warp& warp, const Op& op, std::uint32_t mask) {
  Frame& frame = *warp.frame;
  const Op& call = warp.launch->program->code[static_cast<std::size_t>(frame.call_pc)];
  copy_results(frame, site_of(warp, call), mask, *frame.caller);
  warp.active &= ~mask;
  return warp.active != 0 ? op.pc + 1 : next_split(warp);
}

}  // namespace cudaopt::sim
