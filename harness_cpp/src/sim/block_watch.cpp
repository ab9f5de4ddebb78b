#include "sim/block_watch.hpp"

#include <algorithm>

#include "sim/lane_access.hpp"

namespace cudaopt::sim {

BlockWatch::BlockWatch(LaunchWatch& launch, Block& block)
    : m_launch(launch), m_block(block), m_undefined(block, launch.findings()) {
  if (!launch.accesses()) return;
  m_shared.host = block.shared;
  m_shared.tracked = true;
  m_shared.cells = AccessCells(block.shared_bytes, 2);
}

void BlockWatch::begin() {
  finish();
  if (!m_launch.accesses()) return;
  m_running = true;
  m_launch.end_turn();
  m_clocks.begin(m_block.linear, m_block.warps->size(), m_launch.tick());
  m_undefined.begin();
  m_left_behind.begin(m_block.warps->size());
  m_locations.clear();
  m_local_written.assign(m_block.local_bytes * m_block.warps->size() * kLanes, false);
}

void BlockWatch::forget_local(std::uint64_t thread, std::uint32_t offset, std::uint32_t bytes) {
  if (!m_launch.accesses()) return;
  const auto first = static_cast<std::ptrdiff_t>(thread * m_block.local_bytes + offset);
  std::fill_n(m_local_written.begin() + first, bytes, false);
}

void BlockWatch::finish() {
  if (!m_running) return;
  m_running = false;
  forget_copies();
  m_left_behind.forget(m_shared.cells);
  for (const UnwrittenReads::Read& read : m_shared.unwritten.take()) {
    const Party at{read.block, stamp::warp(read.stamp), stamp::lane(read.stamp),
                   stamp::pc(read.stamp)};
    m_launch.findings().add_unwritten(&m_shared, read.offset, read.bytes, at);
  }
}

void BlockWatch::warp_met(const Warp& warp, std::uint32_t lanes) {
  if (m_launch.accesses()) m_clocks.warp_met(warp.index, lanes, m_launch.tick());
}

void BlockWatch::arrived(const Warp& warp, std::size_t barrier) {
  if (m_launch.accesses()) m_clocks.arrived(warp.index, barrier, m_launch.tick());
}

void BlockWatch::barrier_released(std::size_t barrier, std::uint32_t warps, bool whole_block) {
  if (!m_launch.accesses()) return;
  std::uint32_t exited = 0;
  for (const Warp& warp : *m_block.warps)
    if (whole_block && warp.state == WarpState::exited) exited |= 1u << warp.index;
  m_clocks.barrier_released(barrier, warps, exited, m_launch.tick());
}

void BlockWatch::shuffled(Warp& warp, const Op& op, std::uint32_t mask,
                          const ShuffleSources& sources) {
  if (!m_launch.accesses()) return;
  if ((sources.absent & mask) == 0 && !m_undefined.follows(warp)) return;
  m_undefined.shuffled(warp, op, mask, sources);
}

void BlockWatch::left_before(const Warp& waiting, const Leaving& left) {
  if (!m_launch.accesses()) return;
  m_left_behind.mark(m_shared.cells, left, waiting.barrier_pc, m_clocks.floor(waiting.index));
}

void BlockWatch::fence(const Warp& warp, Scope scope) {
  if (m_launch.accesses()) m_clocks.fence(warp.index, scope, m_launch.tick());
}

void BlockWatch::phase_arrived(const Warp& warp, std::uint64_t address) {
  if (!m_launch.accesses()) return;
  fence(warp, Scope::block);
  m_clocks.release(warp.index, m_locations[address]);
}

void BlockWatch::phase_left(const Warp& warp, std::uint32_t lane, std::uint64_t address) {
  const auto found = m_locations.find(address);
  if (found != m_locations.end()) m_clocks.acquire(warp.index, lane, found->second);
}

void BlockWatch::copy_started(const Warp& warp, std::uint32_t lane, std::uint32_t address,
                              std::uint32_t bytes, std::int32_t pc) {
  if (!m_launch.accesses()) return;
  const Stamp started =
      stamp::of_warp(m_launch.now(), pc, Strength::plain, warp.index) | stamp::of_lanes(lane, lane);
  if (m_copies.empty()) m_copies.resize(m_block.warps->size() * kLanes);
  m_copies[warp.index * kLanes + lane].push_back({address, bytes, pc, started});
  // No thread is the one of lane and other lane: not even its own may touch the bytes.
  const Stamp stamp =
      stamp::of_warp(kUnderWay, pc, Strength::plain, warp.index) | stamp::of_lanes(lane, lane ^ 1u);
  const AccessCells& cells = m_shared.cells;
  const std::uint64_t first = address >> cells.shift();
  std::fill_n(cells.writes() + first, bytes >> cells.shift(), stamp);
}

// The bytes are written when their thread has waited for them: what others know of it from before
// does not include them.
void BlockWatch::land(const Warp& warp, std::uint32_t lane, const StartedCopy& copy) {
  const Stamp stamp = stamp::of_warp(m_launch.now(), copy.pc, Strength::plain, warp.index) |
                      stamp::of_lanes(lane, lane);
  const AccessCells& cells = m_shared.cells;
  const std::uint64_t first = copy.address >> cells.shift();
  for (std::uint64_t cell = first; cell < first + (copy.bytes >> cells.shift()); ++cell) {
    Stamp& written = cells.writes()[cell];
    const bool own = ((written ^ stamp) & stamp::kThread) == 0;
    if (own && stamp::time(written) == kUnderWay) written = stamp;
  }
}

void BlockWatch::copies_waited(const Warp& warp, std::uint32_t lanes) {
  if (m_copies.empty()) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    std::vector<StartedCopy>& copies = m_copies[warp.index * kLanes + lane];
    const auto landed = [&](const StartedCopy& copy) {
      if (m_block.copies.find(copy.address, copy.bytes) != nullptr) return false;
      land(warp, lane, copy);
      return true;
    };
    copies.erase(std::remove_if(copies.begin(), copies.end(), landed), copies.end());
  }
}

// Shared memory is another block's from here on.
void BlockWatch::forget_copies() {
  const AccessCells& cells = m_shared.cells;
  for (const std::vector<StartedCopy>& copies : m_copies)
    for (const StartedCopy& copy : copies)
      std::fill_n(cells.writes() + (copy.address >> cells.shift()), copy.bytes >> cells.shift(), 0);
  m_copies.clear();
}

// The last copy under way to this cell.
Stamp BlockWatch::start_of(const LaneAccess& access, std::uint64_t cell, Stamp copy) const {
  const std::uint64_t address = cell << access.array->cells.shift();
  Stamp started = 0;
  for (const StartedCopy& one : m_copies[stamp::warp(copy) * kLanes + stamp::lane(copy)])
    if (address >= one.address && address - one.address < one.bytes) started = one.started;
  return started;
}

void BlockWatch::report(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell,
                        Stamp earlier, bool earlier_reads, bool in_one_instruction) {
  if (stamp::time(earlier) == kUnderWay) {
    const Stamp started = start_of(access, cell, earlier);
    if (started == 0 || m_clocks.knows(whole.warp.index, access.lane, started, m_block.linear))
      return report_unfinished(whole, access, cell, earlier);
    earlier = started;  // no order at all: waiting for the copy would not help
  }
  if (stamp::time(earlier) == kLeftBehind) return report_left_behind(whole, access, cell, earlier);
  Collision collision;
  collision.array = access.array;
  collision.offset = std::max(cell << access.array->cells.shift(), access.offset);
  collision.bytes = whole.shape.element_bytes;
  collision.at = {m_block.linear, whole.warp.index, access.lane, whole.op.pc};
  collision.other = {block_of(*access.array, earlier), stamp::warp(earlier), stamp::lane(earlier),
                     stamp::pc(earlier)};
  const bool one_warp =
      collision.other.block == m_block.linear && collision.other.warp == whole.warp.index;
  if (one_warp && collision.other.lane == access.lane)
    collision.other.lane = stamp::other_lane(earlier);
  collision.reads = whole.kind == AccessKind::load;
  collision.other_reads = earlier_reads;
  collision.missing = collision.other.block != m_block.linear ? Missing::grid_order
                      : one_warp                              ? Missing::warp_barrier
                                                              : Missing::block_barrier;
  if (in_one_instruction) collision.missing = Missing::one_value;
  // The reader is the one who sees it, whoever came first.
  if (earlier_reads) {
    std::swap(collision.at, collision.other);
    std::swap(collision.reads, collision.other_reads);
  }
  m_launch.findings().add_race(collision);
  access.array->unwritten.forget(cell << access.array->cells.shift());
}

void BlockWatch::report_unfinished(const WarpAccess& whole, const LaneAccess& access,
                                   std::uint64_t cell, Stamp copy) {
  Collision collision;
  collision.array = access.array;
  collision.offset = std::max(cell << access.array->cells.shift(), access.offset);
  collision.bytes = whole.shape.element_bytes;
  collision.at = {m_block.linear, whole.warp.index, access.lane, whole.op.pc};
  collision.other = {m_block.linear, stamp::warp(copy), stamp::lane(copy), stamp::pc(copy)};
  collision.reads = whole.kind == AccessKind::load;
  collision.missing = Missing::copy_wait;
  m_launch.findings().add_race(collision);
}

void BlockWatch::report_left_behind(const WarpAccess& whole, const LaneAccess& access,
                                    std::uint64_t cell, Stamp written) {
  Collision collision;
  collision.array = access.array;
  collision.offset = std::max(cell << access.array->cells.shift(), access.offset);
  collision.bytes = whole.shape.element_bytes;
  collision.at = {m_block.linear, whole.warp.index, access.lane, whole.op.pc};
  collision.other = {m_block.linear, stamp::warp(written), stamp::lane(written),
                     stamp::pc(written)};
  collision.reads = true;
  m_launch.findings().add_passed(collision, m_left_behind.barrier_of(written));
}

}  // namespace cudaopt::sim
