#include "sim/paths.hpp"

#include <algorithm>

#include "sim/block.hpp"
#include "sim/frames.hpp"

namespace cudaopt::sim {
namespace {

void remove_dead(Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    if ((warp.splits[static_cast<std::size_t>(i)].mask & warp.alive) == 0) take_path(warp, i);
  }
}

}  // namespace

const Op& op_of(const Warp& warp, const Split& split) {
  return warp.launch->program->code[static_cast<std::size_t>(split.pc)];
}

Split running_path(const Warp& warp, std::int32_t pc) {
  return {pc, warp.active, warp.reconverge, Wait::none, warp.frame, nullptr};
}

std::int32_t run_path(Warp& warp, const Split& path) {
  if (path.frame != warp.frame) make_current(warp, *path.frame);
  warp.active = path.mask & warp.alive;
  warp.reconverge = path.reconverge;
  return path.pc;
}

void push_path(Warp& warp, const Split& path) {
  const auto size = static_cast<std::int32_t>(warp.splits.size());
  // Splits of lanes that exited stay until their turn comes.
  if (warp.split_count == size) remove_dead(warp);
  // Calls within calls have one each.
  if (warp.split_count == size) warp.splits.resize(2 * warp.splits.size());
  warp.splits[static_cast<std::size_t>(warp.split_count++)] = path;
}

Split take_path(Warp& warp, std::int32_t index) {
  const auto at = warp.splits.begin() + index;
  Split path = *at;
  std::copy(at + 1, warp.splits.begin() + warp.split_count, at);
  --warp.split_count;
  // Nobody is in the call any more.
  if (path.returning != nullptr) warp.block->frames->leave(warp, *path.returning);
  path.returning = nullptr;
  return path;
}

std::uint32_t arrived_lanes(const Warp& warp, std::int32_t index) {
  std::uint32_t arrived =
      warp.splits[static_cast<std::size_t>(index)].mask & warp.alive & ~warp.active;
  for (std::int32_t i = index + 1; i < warp.split_count; ++i)
    arrived &= ~warp.splits[static_cast<std::size_t>(i)].mask;
  return arrived;
}

std::int32_t oldest_path(const Warp& warp) {
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& split = warp.splits[static_cast<std::size_t>(i)];
    const std::uint32_t living = split.mask & warp.alive;
    if (split.wait == Wait::none && living != 0 && arrived_lanes(warp, i) == living) return i;
  }
  return -1;
}

std::int32_t waiting_join(const Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    if (warp.splits[static_cast<std::size_t>(i)].wait == Wait::none && arrived_lanes(warp, i) != 0)
      return i;
  }
  return -1;
}

Split part_from_join(Warp& warp, std::int32_t index) {
  Split path = warp.splits[static_cast<std::size_t>(index)];
  path.mask = arrived_lanes(warp, index);
  path.returning = nullptr;  // others are still in the call
  warp.splits[static_cast<std::size_t>(index)].mask &= ~path.mask;
  return path;
}

bool yield(Warp& warp) {
  Split next;
  if (const std::int32_t oldest = oldest_path(warp); oldest >= 0) {
    next = take_path(warp, oldest);
  } else if (const std::int32_t join = waiting_join(warp); join >= 0) {
    next = part_from_join(warp, join);
  } else {
    return false;
  }
  push_path(warp, running_path(warp, warp.pc));
  warp.pc = run_path(warp, next);
  return true;
}

}  // namespace cudaopt::sim
