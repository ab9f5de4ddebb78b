#include "sim/block_watch.hpp"

#include <algorithm>
#include <cstring>

#include "sim/memory_form.hpp"

namespace cudaopt::sim {

// One lane's part of a warp's access.
struct BlockWatch::LaneAccess {
  WatchedArray* array = nullptr;  // nullptr: local, constant or parameter memory
  bool local = false;
  std::uint32_t lane = 0, bytes = 0;
  std::uint64_t offset = 0;  // in the array, or in the thread's local memory
  Stamp stamp = 0;
  std::uint8_t stored[32]{};  // what will be in memory afterwards
  bool knows_stored = false;

  [[nodiscard]] std::uint64_t first_cell() const { return offset >> array->cells.shift(); }
  [[nodiscard]] std::uint64_t end_cell() const {
    return ((offset + bytes - 1) >> array->cells.shift()) + 1;
  }
};

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

BlockWatch::BlockWatch(LaunchWatch& launch, Block& block) : m_launch(launch), m_block(block) {
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

void BlockWatch::report(const WarpAccess& whole, const LaneAccess& access, std::uint64_t cell,
                        Stamp earlier, bool earlier_reads, bool in_one_instruction) {
  if (stamp::time(earlier) == kUnderWay) {
    const Stamp started = start_of(access, cell, earlier);
    if (started == 0 || m_clocks.knows(whole.warp.index, access.lane, started, m_block.linear))
      return report_unfinished(whole, access, cell, earlier);
    earlier = started;  // no order at all: waiting for the copy would not help
  }
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

// The last copy under way to this cell.
Stamp BlockWatch::start_of(const LaneAccess& access, std::uint64_t cell, Stamp copy) const {
  const std::uint64_t address = cell << access.array->cells.shift();
  Stamp started = 0;
  for (const StartedCopy& one : m_copies[stamp::warp(copy) * kLanes + stamp::lane(copy)])
    if (address >= one.address && address - one.address < one.bytes) started = one.started;
  return started;
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
  if (std::find(begin, end, true) != end) return;
  m_launch.findings().add_unwritten(nullptr, access.offset, whole.shape.bytes(),
                                    {m_block.linear, whole.warp.index, access.lane, whole.op.pc});
}

}  // namespace cudaopt::sim
