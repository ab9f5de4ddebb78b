#include "sim/tracer.hpp"

#include <algorithm>

#include "sim/memory.hpp"
#include "sim/request.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Space;
using Kind = TimedOp::Kind;

// What one L2 slice holds together. Fitted: 2^26 atomics on 256 counters, 1 KB, take 17.3 ms: two
// slices with one operation per clock each.
constexpr std::uint64_t kGranuleBytes = 512;
constexpr std::uint32_t kWholeSector = 0xffffffffu;

LaneAddresses lane_addresses(const Warp& warp, const Op& op, const TimedOp& timed,
                             std::uint32_t mask) {
  LaneAddresses lanes;
  lanes.mask = mask;
  lanes.bytes = timed.bytes;
  const std::uint8_t* base = op.address == Slot::none ? nullptr : warp.registers + op.src[0];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    std::uint64_t value = 0;
    if (op.address == Slot::b32) value = reinterpret_cast<const std::uint32_t*>(base)[lane];
    if (op.address == Slot::b64) value = reinterpret_cast<const std::uint64_t*>(base)[lane];
    lanes.address[lane] = value + static_cast<std::uint64_t>(op.imm);
  }
  return lanes;
}

// Generic addresses of one instruction lie in one space in all code but the oddest.
Space space_of(Space declared, const LaneAddresses& lanes) {
  if (declared != Space::none || lanes.mask == 0) return declared;
  const std::uint64_t address = lanes.address[static_cast<std::size_t>(__builtin_ctz(lanes.mask))];
  if (address >= kGlobalStride) return Space::global;
  if (address >= kParamWindow) return Space::param;
  if (address >= kConstantWindow) return Space::constant;
  if (address >= kLocalWindow) return Space::local;
  return Space::shared;
}

}  // namespace

struct BlockTracer::Request {
  LaneAddresses lanes;
  Space space = Space::none;
  std::size_t pc = 0;
  Arrival arrival;  // in: when it starts; out: when its value is there
};

BlockTracer::BlockTracer(const TimedCode& code, const model::TraceSettings& settings,
                         std::uint32_t warps)
    : m_code(code),
      m_settings(settings),
      m_warps(warps, Scoreboard(code.registers)),
      m_l1(settings.l1_bytes),
      m_memos(code.ops.size()),
      m_passes(code.ops.size()) {}

void BlockTracer::step(const Warp& warp, const Op& op, std::uint32_t mask) {
  const TimedOp& timed = m_code.ops[static_cast<std::size_t>(op.pc)];
  Scoreboard& scoreboard = m_warps[warp.index];
  const Arrival start = scoreboard.start(timed);
  count_slots(timed);
  Arrival arrival = start;
  if (timed.kind == Kind::compute || timed.kind == Kind::boundary || mask == 0) {
    arrival.cycles += timed.latency;
  } else if (timed.is_tile) {
    arrival = access_tile(warp, op, timed, start);
  } else {
    Request request{lane_addresses(warp, op, timed, mask), timed.space,
                    static_cast<std::size_t>(op.pc), start};
    request.space = space_of(timed.space, request.lanes);
    access(timed, request);
    arrival = request.arrival;
  }
  scoreboard.issue(timed, start, arrival);
}

// All requests start together; the registers are there with the last.
Arrival BlockTracer::access_tile(const Warp& warp, const Op& op, const TimedOp& timed,
                                 const Arrival& start) {
  Arrival last = start;
  for (const LaneAddresses& lanes : tile_requests(warp, op)) {
    Request request{lanes, timed.space, static_cast<std::size_t>(op.pc), start};
    request.space = space_of(timed.space, request.lanes);
    access(timed, request);
    last = std::max(last, request.arrival);
  }
  return last;
}

// Of what a special function expands to, one instruction goes to the special unit.
void BlockTracer::count_slots(const TimedOp& timed) {
  const bool expanded = timed.pipe == Pipe::special && timed.slots > 1;
  const std::uint64_t own = expanded ? 1 : timed.slots;
  m_trace.pipe_slots[static_cast<std::size_t>(timed.pipe)] += own;
  m_trace.pipe_slots[static_cast<std::size_t>(Pipe::fp32)] += timed.slots - own;
}

void BlockTracer::access(const TimedOp& timed, Request& request) {
  switch (request.space) {
    case Space::shared:
      return access_shared(timed, request);
    case Space::global:
      return access_global(timed, request);
    case Space::local:
      // Local memory interleaves the lanes: 32 words of 4 bytes are one line, and stay in L1.
      m_trace.lsu_wavefronts += std::max<std::uint64_t>(1, request.lanes.bytes / 4);
      request.arrival.cycles += m_settings.l1_hit_cycles;
      return;
    default:
      request.arrival.cycles += timed.latency;
  }
}

void BlockTracer::access_shared(const TimedOp& timed, Request& request) {
  if (timed.kind == Kind::atomic) return shared_atomic(request);
  const std::uint64_t wavefronts = m_memos[request.pc].passes(request.lanes);
  std::uint64_t already = 0;  // the words a joined load brings ride on the passes of its leader
  if (timed.leader >= 0) already = m_passes[static_cast<std::size_t>(timed.leader)];
  m_passes[request.pc] = wavefronts;
  m_trace.lsu_wavefronts += wavefronts - std::min(wavefronts, already);
  request.arrival.cycles += m_settings.shared_cycles + wavefronts - 1;
}

// Lanes that meet in one word take turns; words in different banks do not meet.
void BlockTracer::shared_atomic(Request& request) {
  const std::uint64_t words = distinct_addresses(request.lanes);
  const auto lanes = static_cast<std::uint64_t>(__builtin_popcount(request.lanes.mask));
  const std::uint64_t rounds = (lanes + words - 1) / words;
  const std::uint64_t wavefronts = shared_passes(request.lanes) * rounds;
  m_trace.shared_atomic_wavefronts += wavefronts;
  request.arrival.cycles += m_settings.shared_atomic_cycles + 2 * wavefronts;
}

void BlockTracer::access_global(const TimedOp& timed, Request& request) {
  if (timed.kind == Kind::atomic) return atomic_operations(request);
  if (timed.kind == Kind::store) return store_sectors(request);
  load_sectors(request);
}

void BlockTracer::load_sectors(Request& request) {
  const SectorList sectors(request.lanes);
  const std::uint64_t lines = sectors.lines();
  m_trace.lsu_wavefronts += lines;
  bool first_miss = false, repeat_miss = false;
  for (const SectorBytes& one : sectors) {
    const bool first_touch = m_touched.read(one.sector);
    if (m_l1.access(one.sector * kSectorBytes)) {
      ++m_trace.l1_hit_sectors;
      continue;
    }
    ++m_trace.l2_read_sectors;
    (first_touch ? first_miss : repeat_miss) = true;
  }
  Arrival& arrival = request.arrival;
  arrival.cycles += lines - 1;
  if (first_miss) {
    arrival.cycles += m_settings.dram_cycles;
    ++arrival.first_misses;
  } else if (repeat_miss) {
    arrival.cycles += m_settings.l2_hit_cycles;
    ++arrival.repeat_misses;
  } else {
    arrival.cycles += m_settings.l1_hit_cycles;
  }
}

void BlockTracer::store_sectors(Request& request) {
  const SectorList sectors(request.lanes);
  m_trace.lsu_wavefronts += sectors.lines();
  for (const SectorBytes& one : sectors) {
    m_touched.write(one.sector, one.byte_mask);
    ++(one.byte_mask == kWholeSector ? m_trace.l2_written_sectors : m_trace.l2_partial_sectors);
  }
}

void BlockTracer::atomic_operations(Request& request) {
  const SectorList sectors(request.lanes);
  m_trace.lsu_wavefronts += sectors.lines();
  for (const SectorBytes& one : sectors) {
    m_touched.read(one.sector);
    m_touched.write(one.sector, one.byte_mask);
    const auto operations =
        static_cast<std::uint64_t>(__builtin_popcount(one.byte_mask)) / request.lanes.bytes;
    m_granules[one.sector * kSectorBytes / kGranuleBytes] += operations;
    m_trace.global_atomic_operations += operations;
  }
  request.arrival.cycles += m_settings.global_atomic_cycles;
}

void BlockTracer::barrier_released(std::uint32_t warps) {
  Arrival last;
  for (std::size_t i = 0; i < m_warps.size(); ++i) {
    if ((warps >> i) & 1u) last = std::max(last, m_warps[i].latest());
  }
  last.cycles += m_settings.barrier_cycles;
  for (std::size_t i = 0; i < m_warps.size(); ++i) {
    if ((warps >> i) & 1u) m_warps[i].wait_until(last);
  }
}

model::BlockTrace BlockTracer::finish(const Counters& counters) {
  Arrival last;
  for (const Scoreboard& warp : m_warps) last = std::max(last, warp.latest());
  m_trace.counters = counters;
  m_trace.critical_cycles = last.cycles;
  m_trace.critical_first_misses = last.first_misses;
  m_trace.critical_repeat_misses = last.repeat_misses;
  m_trace.touched = m_touched.summary();
  if (m_line_counts) m_trace.by_line = m_line_counts->counts();
  for (const auto& [granule, operations] : m_granules) {
    m_trace.granules.push_back({granule * kGranuleBytes, operations});
  }
  return m_trace;
}

}  // namespace cudaopt::sim
