#include "sim/block_clocks.hpp"

#include <algorithm>

namespace cudaopt::sim {

void Knowledge::join(const Knowledge& other) {
  sim::join(block, other.block);
  grid.join(other.grid);
}

void BlockClocks::begin(std::uint64_t block, std::size_t warps, Time now) {
  m_block = block;
  m_begun = now;
  m_warps.assign(warps, {});
  for (WarpClock& clock : m_warps) {
    clock.known.block.fill(now);
    clock.met.fill(now);
    clock.floor = clock.lanes_met = now;
  }
  m_arrived.fill({});
}

void BlockClocks::set_floor(std::uint32_t warp) {
  WarpClock& clock = m_warps[warp];
  Time floor = *std::min_element(clock.met.begin(), clock.met.end());
  for (std::size_t other = 0; other < m_warps.size(); ++other)
    if (other != warp) floor = std::min(floor, clock.known.block[other]);
  clock.floor = floor;
}

void BlockClocks::warp_met(std::uint32_t warp, std::uint32_t lanes, Time now) {
  WarpClock& clock = m_warps[warp];
  for (int i = 0; i < kLanes; ++i) clock.met[i] = (lanes >> i & 1u) != 0 ? now : clock.met[i];
  clock.lanes_met = now;
  set_floor(warp);
}

void BlockClocks::gather(Gathering& gathering, const WarpClock& clock) const {
  gathering.known.join(clock.known);
  gathering.fences = std::max(gathering.fences, clock.fences);
  if (clock.fences == 0) return;
  gathering.fenced_block.join(clock.fenced_block);
  gathering.fenced_device.join(clock.fenced_device);
}

void BlockClocks::arrived(std::uint32_t warp, std::size_t barrier, Time now) {
  gather(m_arrived[barrier], m_warps[warp]);
  Time& own = m_arrived[barrier].known.block[warp];
  own = std::max(own, now);
}

// Warps that have exited count as arrived, as on hardware.
void BlockClocks::barrier_released(std::size_t barrier, std::uint32_t warps, std::uint32_t exited,
                                   Time now) {
  Gathering all = m_arrived[barrier];
  m_arrived[barrier] = {};
  for (std::uint32_t rest = warps | exited; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(__builtin_ctz(rest));
    gather(all, m_warps[warp]);
    all.known.block[warp] = now;
  }
  for (std::uint32_t rest = warps; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(__builtin_ctz(rest));
    WarpClock& clock = m_warps[warp];
    clock.known = all.known;
    clock.fences = all.fences;
    if (all.fences != 0) {
      clock.fenced_block = all.fenced_block;
      clock.fenced_device = all.fenced_device;
    }
    clock.met.fill(now);
    clock.lanes_met = now;
    set_floor(warp);
  }
}

void BlockClocks::fence(std::uint32_t warp, Scope scope, Time now) {
  WarpClock& clock = m_warps[warp];
  Knowledge fenced = clock.known;
  fenced.block[warp] = now;
  clock.fences = std::max(clock.fences, scope == Scope::device ? 2 : 1);
  if (scope == Scope::device) clock.fenced_device = fenced;
  clock.fenced_block = std::move(fenced);
}

void BlockClocks::release(std::uint32_t warp, SyncLocation& to) const {
  const WarpClock& clock = m_warps[warp];
  if (clock.fences == 0) return;
  if (to.block != m_block) to.within = {};
  to.block = m_block;
  join(to.within, clock.fenced_block.block);
  if (clock.fences < 2) return;
  to.grid.join(clock.fenced_device.grid);
  to.grid.join(m_block, clock.fenced_device.block);
}

void BlockClocks::acquire(std::uint32_t warp, std::uint32_t lane, const SyncLocation& from) {
  WarpClock& clock = m_warps[warp];
  Until learnt{};
  if (const Until* own = from.grid.of(m_block); own != nullptr) learnt = *own;
  if (from.block == m_block) join(learnt, from.within);
  clock.known.grid.join(from.grid);
  clock.met[lane] = std::max(clock.met[lane], learnt[warp]);
  clock.lanes_met = std::max(clock.lanes_met, clock.met[lane]);
  if (join(clock.known.block, learnt)) set_floor(warp);
}

bool BlockClocks::knows(std::uint32_t warp, std::uint32_t lane, Stamp stamp,
                        std::uint64_t block) const {
  const WarpClock& clock = m_warps[warp];
  const Time time = stamp::time(stamp);
  const std::uint32_t who = stamp::warp(stamp);
  if (block != m_block) {
    const Until* until = clock.known.grid.of(block);
    return until != nullptr && time < (*until)[who];
  }
  if (who != warp) return time < clock.known.block[who];
  const bool alone = stamp::lane(stamp) == lane && stamp::other_lane(stamp) == lane;
  return alone || time < clock.met[lane];
}

}  // namespace cudaopt::sim
