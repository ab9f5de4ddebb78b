#include "sim/paths.hpp"

namespace cudaopt::sim {
namespace {

void remove_dead(Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    if ((warp.splits[i].mask & warp.alive) == 0) take_path(warp, i);
  }
}

}  // namespace

Split running_path(const Warp& warp, std::int32_t pc) { return {pc, warp.active, warp.reconverge}; }

std::int32_t run_path(Warp& warp, const Split& path) {
  warp.active = path.mask & warp.alive;
  warp.reconverge = path.reconverge;
  return path.pc;
}

void push_path(Warp& warp, const Split& path) {
  // Splits of lanes that exited stay until their turn comes.
  if (warp.split_count == kMaxSplits) remove_dead(warp);
  warp.splits[warp.split_count++] = path;
}

Split take_path(Warp& warp, std::int32_t index) {
  const Split path = warp.splits[index];
  for (std::int32_t i = index; i + 1 < warp.split_count; ++i) warp.splits[i] = warp.splits[i + 1];
  --warp.split_count;
  return path;
}

std::uint32_t arrived_lanes(const Warp& warp, std::int32_t index) {
  std::uint32_t arrived = warp.splits[index].mask & warp.alive & ~warp.active;
  for (std::int32_t i = index + 1; i < warp.split_count; ++i) arrived &= ~warp.splits[i].mask;
  return arrived;
}

std::int32_t oldest_path(const Warp& warp) {
  for (std::int32_t i = 0; i < warp.split_count; ++i) {
    const Split& split = warp.splits[i];
    const std::uint32_t living = split.mask & warp.alive;
    if (split.wait == Wait::none && living != 0 && arrived_lanes(warp, i) == living) return i;
  }
  return -1;
}

std::int32_t waiting_join(const Warp& warp) {
  for (std::int32_t i = warp.split_count - 1; i >= 0; --i) {
    if (warp.splits[i].wait == Wait::none && arrived_lanes(warp, i) != 0) return i;
  }
  return -1;
}

Split part_from_join(Warp& warp, std::int32_t index) {
  Split path = warp.splits[index];
  path.mask = arrived_lanes(warp, index);
  warp.splits[index].mask &= ~path.mask;
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
