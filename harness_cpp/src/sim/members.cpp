#include "sim/members.hpp"

#include <cstdio>
#include <string>

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

void check_lane(const Warp& warp, const Op& op, std::uint32_t mask, const std::uint32_t* members,
                int lane) {
  const std::uint32_t named = members[lane];
  const std::string who = "lane " + std::to_string(lane) +
                          " executes a warp-wide instruction with member mask " +
                          hexadecimal(named);
  if (((named >> lane) & 1) == 0)
    fail_absent(warp, op, lane, who + ", which does not name the lane itself; add it to the mask");
  if (const std::uint32_t absent = named & warp.alive & ~mask; absent != 0)
    fail_absent(warp, op, lane,
                who + ", which names lanes " + lane_list(absent) +
                    " that took another path and are not here; name only lanes that reach it, or "
                    "move it out of the branch");
  for (int other = 0; other < kLanes; ++other) {
    const bool together = ((named & mask) >> other & 1) != 0;
    if (together && members[other] != named)
      fail_absent(warp, op, lane,
                  who + ", but lane " + std::to_string(other) + ", which it names, has mask " +
                      hexadecimal(members[other]) + "; lanes that meet must agree on the mask");
  }
}

}  // namespace

void check_members(const Warp& warp, const Op& op, std::uint32_t mask,
                   const std::uint32_t* members) {
  const std::uint32_t named = members[__builtin_ctz(mask)];
  std::uint32_t different = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    different |= members[lane] != named ? (mask >> lane) & 1 : 0;
  if (different == 0 && (named & mask) == mask && (named & warp.alive & ~mask) == 0) return;
  for (int lane = 0; lane < kLanes; ++lane)
    if (((mask >> lane) & 1) != 0) check_lane(warp, op, mask, members, lane);
}

}  // namespace cudaopt::sim
