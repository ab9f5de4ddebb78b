// The rules by which BlockWatch judges an access: what collides, what was never written, what a
// thread publishes and learns.
#include <algorithm>
#include <cstring>

#include "sim/block_watch.hpp"
#include "sim/lane_access.hpp"
#include "sim/memory_form.hpp"

namespace cudaopt::sim {
namespace {

// The bytes a lane of a store writes.
void read_stored(const WarpAccess& whole, std::uint32_t lane, std::uint8_t* to) {
  const std::uint32_t element = whole.shape.element_bytes;
  const bool wide = element == 8 || extension_of(whole.op) >= Extension::to_64;
  for (std::uint32_t k = 0; k < whole.shape.elements; ++k) {
    const std::uint8_t* from = whole.warp.registers + whole.op.src[k + 1] + lane * (wide ? 8 : 4);
    std::memcpy(to + k * element, from, element);
  }
}

std::uint64_t window_of(ptx::Space space) {
  if (space == ptx::Space::shared) return kSharedWindow;
  return space == ptx::Space::local ? kLocalWindow : 0;
}

bool writes(AccessKind kind) { return kind != AccessKind::load; }

}  // namespace

BlockWatch::LaneAccess BlockWatch::lane_access(const WarpAccess& whole, std::uint32_t lane) {
  LaneAccess access;
  access.lane = lane;
  access.bytes = whole.shape.bytes();
  ptx::Space space = whole.space;
  std::uint64_t address = whole.addresses[lane];
  if (space == ptx::Space::none) {
    space = space_of_generic(address);
    address -= window_of(space);
  }
  access.local = space == ptx::Space::local;
  if (space == ptx::Space::shared) access.array = &m_shared;
  if (space == ptx::Space::global) access.array = &m_launch.array_at(address);
  access.offset = access.array == nullptr ? address : address - access.array->origin;
  access.stamp =
      stamp::of_warp(m_launch.now(), whole.op.pc, whole.shape.order.strength, whole.warp.index) |
      stamp::of_lanes(lane, lane);
  if (whole.stores_registers) {
    read_stored(whole, lane, access.stored);
    access.knows_stored = true;
  }
  return access;
}

void BlockWatch::access(const WarpAccess& whole) {
  static_cast<void>(turn());
  LaneAccess lanes[kLanes];
  for (std::uint32_t rest = whole.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    lanes[lane] = lane_access(whole, lane);
    const LaneAccess& access = lanes[lane];
    if (access.local && m_launch.accesses()) local_access(whole, access);
    if (access.array == nullptr) continue;
    if (access.array->counted) access.array->sectors.touch(access.offset, access.bytes);
    if (!access.array->tracked || !m_launch.accesses()) continue;
    access.array->cells.refine(whole.shape.element_bytes);
    if (whole.shape.order.strength != Strength::plain) learn(whole, access);
    check(whole, access, lanes);
    if (writes(whole.kind) && whole.shape.order.strength != Strength::plain) publish(whole, access);
  }
}

void BlockWatch::check(const WarpAccess& whole, const LaneAccess& access, const LaneAccess* all) {
  if (whole.kind != AccessKind::store && whole.shape.reads) check_written(whole, access);
  for (std::uint64_t cell = access.first_cell(); cell < access.end_cell(); ++cell) {
    if (writes(whole.kind)) {
      check_write(whole, access, cell, all);
    } else {
      check_read(whole, access, cell);
    }
  }
}

// Within shared memory, stamps older than the block are another block's.
bool BlockWatch::is_current(const WatchedArray& array, Stamp stamp) const {
  if (array.allocation != nullptr) return stamp != 0;
  return stamp::time(stamp) >= m_clocks.begun();
}

std::uint64_t BlockWatch::block_of(const WatchedArray& array, Stamp stamp) const {
  return array.allocation == nullptr ? m_block.linear : m_launch.block_at(stamp::time(stamp));
}

// Whether two accesses to one cell, one of them a write, have no order and need one. Atomics and
// volatile accesses may meet, as flags do; but volatile accesses of one warp to shared memory are
// what warp-synchronous code without __syncwarp consists of.
bool BlockWatch::collides(const WarpAccess& whole, const LaneAccess& access, Stamp earlier) const {
  if (!is_current(*access.array, earlier)) return false;
  if (stamp::time(earlier) == kUnderWay) return true;
  // To write over what nobody reads any more relies on nobody.
  if (stamp::time(earlier) == kLeftBehind) return whole.kind == AccessKind::load;
  const std::uint64_t block = block_of(*access.array, earlier);
  const Strength mine = whole.shape.order.strength, theirs = stamp::strength(earlier);
  if (mine != Strength::plain && theirs != Strength::plain) {
    const bool one_warp = block == m_block.linear && stamp::warp(earlier) == whole.warp.index;
    const bool in_step = access.array == &m_shared && one_warp && mine == Strength::is_volatile &&
                         theirs == Strength::is_volatile;
    if (!in_step) return false;
  }
  return !m_clocks.knows(whole.warp.index, access.lane, earlier, block);
}

// A read of a vector with some component written is the copy of a struct with padding, and so is
// one of a word with some byte written: only what is wholly unwritten is a mistake for certain.
void BlockWatch::check_written(const WarpAccess& whole, const LaneAccess& access) {
  WatchedArray& array = *access.array;
  if (array.has_contents) return;
  for (std::uint64_t cell = access.first_cell(); cell < access.end_cell(); ++cell)
    if (is_current(array, array.cells.writes()[cell])) return;
  for (std::uint64_t cell = access.first_cell(); cell < access.end_cell(); ++cell)
    array.unwritten.add(
        {cell << array.cells.shift(), whole.shape.bytes(), m_block.linear, access.stamp});
}

void BlockWatch::check_read(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell) {
  const Stamp written = access.array->cells.writes()[cell];
  if (collides(whole, access, written)) report(whole, access, cell, written, false);
  note_read(access, cell);
}

void BlockWatch::note_read(const LaneAccess& access, std::uint64_t cell) {
  const AccessCells& cells = access.array->cells;
  Stamp& last = cells.reads()[cell];
  Stamp mine = access.stamp;
  const std::uint32_t warp = stamp::warp(mine);
  const bool own_warp = is_current(*access.array, last) && stamp::warp(last) == warp &&
                        block_of(*access.array, last) == m_block.linear;
  if (!own_warp) {
    cells.other_reads()[cell] = last;
  } else if (stamp::time(last) >= m_clocks.met(warp, access.lane)) {
    const std::uint32_t other =
        stamp::lane(last) != access.lane ? stamp::lane(last) : stamp::other_lane(last);
    mine = (mine & ~stamp::kOtherLane) | stamp::of_lanes(0, other);
  }
  last = mine;
}

// The lane of this very execution whose write the stamp is.
const BlockWatch::LaneAccess* BlockWatch::same_instruction(const WarpAccess& whole,
                                                           const LaneAccess& access,
                                                           std::uint64_t cell, Stamp earlier,
                                                           const LaneAccess* all) const {
  const std::uint32_t lane = stamp::lane(earlier);
  const bool now = (earlier ^ access.stamp) >> stamp::kWarpShift == 0;
  if (!now || lane >= access.lane || (whole.mask >> lane & 1u) == 0) return nullptr;
  const LaneAccess& other = all[lane];
  const bool there =
      other.array == access.array && cell >= other.first_cell() && cell < other.end_cell();
  return there ? &other : nullptr;
}

// Whether the store leaves the cell's bytes as they are: many threads that set one flag are no race
// worth telling of.
bool BlockWatch::keeps_bytes(const LaneAccess& access, std::uint64_t cell) const {
  if (!access.knows_stored) return false;
  const int shift = access.array->cells.shift();
  const std::uint64_t begin = std::max(cell << shift, access.offset);
  const std::uint64_t end = std::min((cell + 1) << shift, access.offset + access.bytes);
  return std::memcmp(access.array->host + begin, access.stored + (begin - access.offset),
                     end - begin) == 0;
}

void BlockWatch::check_write(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell,
                             const LaneAccess* all) {
  WatchedArray& array = *access.array;
  const AccessCells& cells = array.cells;
  Stamp& written = cells.writes()[cell];
  if (const LaneAccess* twin = same_instruction(whole, access, cell, written, all)) {
    const std::uint64_t at = cell << cells.shift();
    const bool same = twin->offset == access.offset && twin->knows_stored &&
                      std::memcmp(twin->stored, access.stored, access.bytes) == 0;
    const bool atomic = whole.kind == AccessKind::atomic;
    if (!same && !atomic && at >= access.offset) report(whole, access, cell, written, false, true);
    written = access.stamp;
    return;
  }
  const Stamp reads[] = {cells.reads()[cell], cells.other_reads()[cell]};
  const bool after_write = collides(whole, access, written);
  const bool after_read[] = {collides(whole, access, reads[0]), collides(whole, access, reads[1])};
  const UnwrittenReads::Read* found = array.unwritten.find(cell << cells.shift());
  const Stamp early = found != nullptr ? found->stamp : 0;
  const bool after_early = early != 0 && collides(whole, access, early);
  if (after_write || after_read[0] || after_read[1] || after_early) {
    // Then the write before it stays the last one. But an update of what was there before depends
    // on the order, whatever it has left, as does a read of what nobody had written.
    const bool updated = after_write && stamp::strength(written) == Strength::strong;
    if (!after_early && !updated && keeps_bytes(access, cell)) return;
    if (after_write) report(whole, access, cell, written, false);
    for (int i = 0; i < 2; ++i)
      if (after_read[i]) report(whole, access, cell, reads[i], true);
    if (after_early && !after_write && !after_read[0] && !after_read[1])
      report(whole, access, cell, early, true);
  }
  written = access.stamp;
}

void BlockWatch::learn(const WarpAccess& whole, const LaneAccess& access) {
  if (whole.kind == AccessKind::store) return;
  const SyncLocation* location = nullptr;
  if (access.array->allocation != nullptr) {
    location = m_launch.find_location(whole.addresses[access.lane]);
  } else if (const auto found = m_locations.find(access.offset); found != m_locations.end()) {
    location = &found->second;
  }
  if (location != nullptr) m_clocks.acquire(whole.warp.index, access.lane, *location);
}

void BlockWatch::publish(const WarpAccess& whole, const LaneAccess& access) {
  const MemoryOrder& order = whole.shape.order;
  if (order.releases) fence(whole.warp, order.scope);
  if (!m_clocks.has_fenced(whole.warp.index)) return;
  SyncLocation& location = access.array->allocation != nullptr
                               ? m_launch.location(whole.addresses[access.lane])
                               : m_locations[access.offset];
  m_clocks.release(whole.warp.index, location);
}

void BlockWatch::local_access(const WarpAccess& whole, const LaneAccess& access) {
  const std::uint64_t thread = whole.warp.index * kLanes + access.lane;
  const std::uint64_t first = thread * m_block.local_bytes + access.offset;
  const auto begin = m_local_written.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(access.bytes);
  if (writes(whole.kind)) {
    std::fill(begin, end, true);
    return;
  }
  const std::uint32_t element = whole.shape.element_bytes;
  if (std::find(begin, end, true) != end) {
    for (std::uint32_t k = 0; k < whole.shape.elements; ++k) {
      const auto part = begin + static_cast<std::ptrdiff_t>(k * element);
      if (std::find(part, part + element, true) == part + element)
        m_undefined.loaded(whole.warp, whole.op, access.lane, k, access.offset + k * element,
                           element);
    }
    return;
  }
  m_launch.findings().add_unwritten(nullptr, access.offset, whole.shape.bytes(),
                                    {m_block.linear, whole.warp.index, access.lane, whole.op.pc});
}

}  // namespace cudaopt::sim
