#include "sim/members.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include "sim/block.hpp"
#include "sim/control.hpp"
#include "sim/frames.hpp"
#include "sim/joint_execution.hpp"
#include "sim/paths.hpp"
#include "sim/shadow.hpp"
#include "sim/whole_warp.hpp"

namespace cudaopt::sim {
namespace {

std::string hexadecimal(std::uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", bits);
  return text;
}

// "3, 16-31"
std::string lane_list(std::uint32_t lanes) {
  std::string text;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((lanes >> lane) & 1) == 0) continue;
    int last = lane;
    while (last + 1 < kLanes && ((lanes >> (last + 1)) & 1) != 0) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(lane);
    if (last > lane) text += "-" + std::to_string(last);
    lane = last;
  }
  return text;
}

[[noreturn]] void fail_absent(const Warp& warp, const Op& op, int lane,
                              const std::string& message) {
  FaultDetail detail;
  detail.kind = FaultKind::absent_lane;
  detail.message = message;
  fail(warp, op, lane, detail);
}

std::string executes(int lane, std::uint32_t named) {
  return "lane " + std::to_string(lane) + " executes a warp-wide instruction with member mask " +
         hexadecimal(named);
}

void check_lane(const Warp& warp, const Op& op, std::uint32_t mask, const std::uint32_t* members,
                int lane) {
  const std::uint32_t named = members[lane];
  const std::string who = executes(lane, named);
  if (((named >> lane) & 1) == 0)
    fail_absent(warp, op, lane, who + ", which does not name the lane itself; add it to the mask");
  for (int other = 0; other < kLanes; ++other) {
    const bool together = ((named & mask) >> other & 1) != 0;
    if (together && members[other] != named)
      fail_absent(warp, op, lane,
                  who + ", but lane " + std::to_string(other) + ", which it names, has mask " +
                      hexadecimal(members[other]) + "; lanes that meet must agree on the mask");
  }
}

bool is_waiting(const Warp& warp, const Split& split) {
  const bool waits = split.wait == Wait::members || split.wait == Wait::whole_warp;
  return waits && (split.mask & warp.alive) != 0;
}

std::uint32_t named_by(const Warp& warp, const Split& split) {
  if (split.wait == Wait::whole_warp) return kAllLanes;
  const Op& op = op_of(warp, split);
  const std::uint8_t* masks = split.frame->registers + op.src[member_source(op)];
  std::uint32_t named = 0;
  std::memcpy(&named, masks + static_cast<std::size_t>(__builtin_ctz(split.mask)) * sizeof named,
              sizeof named);
  return named;
}

void park(Warp& warp, const Op& op, std::uint32_t group, Wait wait) {
  push_path(warp, {op.pc, group, warp.reconverge, wait, warp.frame, nullptr});
  warp.parked |= group;
}

// What computes the values: handlers that follow a shadow are the same for many instructions.
Handler value_handler(const Warp& warp, const Op& op) {
  if (warp.shadow == nullptr) return op.masked;
  const ShadowOp& how = shadow_of(warp, op);
  return how.value_masked == nullptr ? op.masked : how.value_masked;
}

bool is_same_instruction(const Warp& warp, const Split& a, const Split& b) {
  if (a.wait != b.wait) return false;
  if (a.wait == Wait::whole_warp) return a.pc == b.pc;
  const Op &one = op_of(warp, a), &other = op_of(warp, b);
  return value_handler(warp, one) == value_handler(warp, other) && one.aux == other.aux;
}

// Splits that wait at the same instruction for the same lanes.
JointPaths paths_like(Warp& warp, std::int32_t index) {
  const Split& split = warp.splits[index];
  const std::uint32_t named = named_by(warp, split);
  JointPaths joint;
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& other = warp.splits[i];
    if (!is_waiting(warp, other) || !is_same_instruction(warp, split, other)) continue;
    if (named_by(warp, other) == named) joint.add(i, other.mask);
  }
  return joint;
}

void wake(Warp& warp, JointPaths& joint) {
  warp.parked &= ~joint.lanes;
  for (std::size_t k = 0; k < joint.count; ++k) {
    Split& split = warp.splits[joint.index[k]];
    split.wait = Wait::none;
    ++split.pc;
  }
  // Lanes at one place that meet the others at the same one go on as one path: the upper one, which
  // is above the joins of both.
  for (std::size_t k = joint.count - 1; k > 0; --k) {
    const Split lower = warp.splits[joint.index[k - 1]];
    const Split& upper = warp.splits[joint.index[k]];
    const bool one_place = upper.pc == lower.pc && upper.frame == lower.frame;
    if (!one_place || upper.reconverge != lower.reconverge) continue;
    warp.splits[joint.index[k]].mask |= lower.mask;
    take_path(warp, joint.index[k - 1]);
    joint.index[k - 1] = joint.index[k] - 1;
  }
}

// Executes what waits for nobody any more.
void complete(Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    if (i >= warp.split_count || !is_waiting(warp, warp.splits[i])) continue;
    JointPaths joint = paths_like(warp, i);
    if ((named_by(warp, warp.splits[i]) & warp.alive & ~joint.lanes) != 0) continue;
    execute_together(warp, joint);
    wake(warp, joint);
  }
}

[[noreturn]] void fail_waiting(Warp& warp, const Split& split, std::uint32_t absent) {
  const std::uint32_t here = split.mask & warp.alive;
  if (split.wait == Wait::whole_warp) fail_incomplete_warp(warp, op_of(warp, split), here);
  const int lane = __builtin_ctz(here);
  fail_absent(warp, op_of(warp, split), lane,
              executes(lane, named_by(warp, split)) + ", which names lanes " + lane_list(absent) +
                  " that took another path and are not here; name only lanes that reach it, or "
                  "move it out of the branch");
}

}  // namespace

bool all_members_here(const Warp& warp, const Op& op, std::uint32_t mask,
                      const std::uint32_t* members) {
  const std::uint32_t named = members[__builtin_ctz(mask)];
  std::uint32_t different = 0, absent = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    different |= members[lane] != named ? (mask >> lane) & 1 : 0;
  if (different == 0 && (named & mask) == mask && (named & warp.alive & ~mask) == 0) return true;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    check_lane(warp, op, mask, members, lane);
    absent |= members[lane] & warp.alive & ~mask;
  }
  return absent == 0;
}

std::int32_t wait_for_members(Warp& warp, const Op& op, std::uint32_t mask) {
  warp.active &= ~mask;  // those its guard leaves out go on alone
  const std::uint32_t* members = lanes<std::uint32_t>(warp, op.src[member_source(op)]);
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint32_t named = members[__builtin_ctz(rest)];
    std::uint32_t group = 0;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const int lane = __builtin_ctz(others);
      if (members[lane] == named) group |= 1u << lane;
    }
    park(warp, op, group, Wait::members);
    rest &= ~group;
  }
  complete(warp);
  return warp.active != 0 ? op.pc + 1 : next_split(warp);
}

std::int32_t wait_for_all_lanes(Warp& warp, const Op& op) {
  park(warp, op, warp.active, Wait::whole_warp);
  warp.active = 0;
  complete(warp);
  return next_split(warp);
}

bool waits_for_members(const Warp& warp) {
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    if (is_waiting(warp, warp.splits[i])) return true;
  }
  return false;
}

std::int32_t look_for_members(Warp& warp) {
  if (const std::int32_t join = waiting_join(warp); join >= 0) {
    const Split path = part_from_join(warp, join);
    warp.let_past |= path.mask;
    return run_path(warp, path);
  }
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    const Split& split = warp.splits[i];
    if (!is_waiting(warp, split)) continue;
    const std::uint32_t here = paths_like(warp, i).lanes;
    fail_waiting(warp, split, named_by(warp, split) & warp.alive & ~here);
  }
  return next_split(warp);  // nobody waits for members
}

void stop_waiting_for(Warp& warp, std::uint32_t lanes) {
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& split = warp.splits[i];
    if (!is_waiting(warp, split)) continue;
    const std::uint32_t gone = named_by(warp, split) & lanes & warp.let_past;
    if (gone != 0) fail_waiting(warp, split, gone);
  }
  complete(warp);
}

}  // namespace cudaopt::sim
