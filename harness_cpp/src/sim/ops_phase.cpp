// mbarrier: barriers in shared memory that count arrivals and bytes of asynchronous copies. Lanes
// act in order, lowest first. Waits only ask: kernels loop around them.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "sim/alu.hpp"
#include "sim/block_watch.hpp"
#include "sim/mbarrier.hpp"
#include "sim/mbarrier_access.hpp"
#include "sim/ops.hpp"
#include "sim/wide_operands.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using ptx::Instruction;

// How an arrival differs from the plain one of one thread.
constexpr std::int32_t kCounted = 1, kExpects = 2, kDrops = 4, kNoIncrease = 8, kByParity = 16,
                       kWatched = 32;

ptx::Space space_of_barrier(const Op& op) { return static_cast<ptx::Space>(op.aux >> 8); }

std::uint64_t lane_address(Warp& warp, const Op& op, int lane) {
  const auto displacement = static_cast<std::uint64_t>(op.imm);
  if (op.address == Slot::b64) return Source<std::uint64_t>(warp, op, 0)[lane] + displacement;
  return static_cast<std::uint32_t>(Source<std::uint32_t>(warp, op, 0)[lane] + displacement);
}

std::uint64_t shared_address(const Op& op, std::uint64_t address) {
  return space_of_barrier(op) == ptx::Space::none ? address - kSharedWindow : address;
}

// Applies `change` to the barrier of every lane, and gives the lane what the barrier was before.
template <class Change>
std::int32_t for_each_barrier(Warp& warp, const Op& op, std::uint32_t mask, const Change& change) {
  ++warp.counters->atomic_requests;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    MbarrierAccess access(warp, op, space_of_barrier(op), lane_address(warp, op, lane), lane);
    const Mbarrier before = access.read();
    access.write(change(access, before, lane));
    if (warp.launch->watch != nullptr)
      warp.block->watch->phase_arrived(warp, shared_address(op, lane_address(warp, op, lane)));
    if (op.dst[0] >= 0) lane_pointer<std::uint64_t>(warp, op.dst[0])[lane] = before.bits();
  }
  return op.pc + 1;
}

std::int32_t initialize(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<std::uint32_t> counts(warp, op, 1);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    MbarrierAccess access(warp, op, space_of_barrier(op), lane_address(warp, op, lane), lane);
    if (counts[lane] == 0 || counts[lane] > Mbarrier::kMaxCount)
      access.fail_count("is set up for " + std::to_string(counts[lane]) +
                        " arrivals; from 1 to 1048575 are possible");
    access.write(Mbarrier::initial(counts[lane]));
  }
  return op.pc + 1;
}

std::int32_t invalidate(Warp& warp, const Op& op, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    MbarrierAccess(warp, op, space_of_barrier(op), lane_address(warp, op, lane), lane).invalidate();
  }
  return op.pc + 1;
}

std::int32_t arrive(Warp& warp, const Op& op, std::uint32_t mask) {
  const Flags flags{op.aux};
  const Source<std::uint32_t> operand(warp, op, flags.has(kCounted | kExpects) ? 1 : 0);
  return for_each_barrier(warp, op, mask,
                          [&](const MbarrierAccess& access, Mbarrier now, int lane) {
                            const std::uint32_t count = flags.has(kCounted) ? operand[lane] : 1;
                            if (flags.has(kExpects))
                              now.bytes += static_cast<std::int32_t>(operand[lane]);
                            if (flags.has(kDrops)) now.expected -= count;
                            return access.arrive(now, count);
                          });
}

template <bool kExpect>
std::int32_t change_bytes(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<std::uint32_t> bytes(warp, op, 1);
  return for_each_barrier(warp, op, mask, [&](const MbarrierAccess&, Mbarrier now, int lane) {
    const auto more = static_cast<std::int32_t>(bytes[lane]);
    now.bytes += kExpect ? more : -more;
    return now.settled();
  });
}

std::int32_t test(Warp& warp, const Op& op, std::uint32_t mask) {
  const bool by_parity = Flags{op.aux}.has(kByParity);
  std::uint32_t over = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    MbarrierAccess access(warp, op, space_of_barrier(op), lane_address(warp, op, lane), lane);
    const Mbarrier now = access.read();
    const bool left = by_parity ? now.has_left_parity(Source<std::uint32_t>(warp, op, 1)[lane])
                                : now.has_left(Source<std::uint64_t>(warp, op, 1)[lane]);
    over |= left ? kLaneBits[lane] : 0u;
    if (left && warp.launch->watch != nullptr)
      warp.block->watch->phase_left(warp, static_cast<std::uint32_t>(lane),
                                    shared_address(op, lane_address(warp, op, lane)));
  }
  write_predicate(warp, op.dst[0], over, mask);
  return op.pc + 1;
}

std::int32_t pending_count(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<std::uint64_t> states(warp, op, 0);
  std::uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) values[i] = Mbarrier::from_bits(states[i]).pending;
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

// The copies of the thread so far are there, as data is copied at once: the arrival they trigger
// comes now. Without .noinc it was not counted on before, so nothing changes.
std::int32_t arrive_after_copies(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t watched = Flags{op.aux}.has(kWatched) ? mask : 0;
  for (std::uint32_t rest = watched; rest != 0; rest &= rest - 1)
    warp.block->copies.finish(warp.index * kLanes +
                              static_cast<std::uint32_t>(__builtin_ctz(rest)));
  if (watched != 0) warp.block->watch->copies_waited(warp, watched);
  const bool counted_on = Flags{op.aux}.has(kNoIncrease);
  return for_each_barrier(warp, op, mask, [&](const MbarrierAccess& access, Mbarrier now, int) {
    return counted_on ? access.arrive(now, 1) : now;
  });
}

Binding barrier_binding(const ptx::Function& function, const Instruction& instruction,
                        std::size_t address, Handler handler, std::int32_t flags) {
  Binding binding;
  binding.full = binding.masked = handler;
  binding.pipe = Pipe::memory;
  binding.latency = 30;
  bool shared = false;
  for (const std::string_view word : instruction.modifiers)
    shared |= word == "shared" || word == "shared::cta" || word == "shared::cluster";
  const ptx::Space space = shared ? ptx::Space::shared : ptx::Space::none;
  binding.aux = static_cast<std::int32_t>(space) << 8 | flags;
  binding.src[0] = address_slot(function, instruction.operands[address]);
  return binding;
}

bool has_address(const Instruction& instruction, std::size_t at) {
  return at < instruction.operands.size() &&
         instruction.operands[at].kind == ptx::Operand::Kind::address;
}

std::optional<Binding> bind_arrive(const ptx::Function& function, const Instruction& instruction) {
  if (!has_address(instruction, 1)) return std::nullopt;
  const bool expects = instruction.has("expect_tx"), has_operand = instruction.operands.size() == 3;
  if (instruction.operands.size() > 3 || (expects && !has_operand)) return std::nullopt;
  const std::int32_t flags = (expects ? kExpects : (has_operand ? kCounted : 0)) |
                             (instruction.has("arrive_drop") ? kDrops : 0);
  Binding binding = barrier_binding(function, instruction, 1, arrive, flags);
  binding.dst[0] = Slot::b64;
  if (has_operand) binding.src[1] = Slot::b32;
  return binding;
}

std::optional<Binding> bind_test(const ptx::Function& function, const Instruction& instruction) {
  if (!has_address(instruction, 1) || instruction.operands.size() < 3) return std::nullopt;
  const bool by_parity = instruction.has("parity");
  Binding binding = barrier_binding(function, instruction, 1, test, by_parity ? kByParity : 0);
  binding.dst[0] = Slot::predicate;
  binding.src[1] = by_parity ? Slot::b32 : Slot::b64;
  if (instruction.operands.size() > 3)
    binding.src[2] = Slot::b32;  // the longest wait: no time passes
  return binding;
}

// [address] and at most one 32-bit operand.
std::optional<Binding> bind_plain(const ptx::Function& function, const Instruction& instruction,
                                  std::size_t operands, Handler handler, std::int32_t flags = 0) {
  if (!has_address(instruction, 0) || instruction.operands.size() != operands) return std::nullopt;
  Binding binding = barrier_binding(function, instruction, 0, handler, flags);
  if (operands == 2) binding.src[1] = Slot::b32;
  return binding;
}

std::optional<Binding> bind_pending_count(const Instruction& instruction) {
  if (instruction.operands.size() != 2) return std::nullopt;
  Binding binding;
  binding.full = binding.masked = pending_count;
  binding.dst[0] = Slot::b32;
  binding.src[0] = Slot::b64;
  return binding;
}

}  // namespace

std::optional<Binding> bind_phase(const ptx::Function& function, const Instruction& instruction,
                                  Watch watch) {
  const Instruction& asked = instruction;
  if (asked.opcode == "cp" && asked.has("async") && asked.has("mbarrier") && asked.has("arrive"))
    return bind_plain(
        function, asked, 1, arrive_after_copies,
        (asked.has("noinc") ? kNoIncrease : 0) | (watch == Watch::nothing ? 0 : kWatched));
  if (asked.opcode != "mbarrier" || asked.type() != "b64") return std::nullopt;
  if (asked.has("init")) return bind_plain(function, asked, 2, initialize);
  if (asked.has("inval")) return bind_plain(function, asked, 1, invalidate);
  if (asked.has("arrive") || asked.has("arrive_drop")) return bind_arrive(function, asked);
  if (asked.has("expect_tx")) return bind_plain(function, asked, 2, change_bytes<true>);
  if (asked.has("complete_tx")) return bind_plain(function, asked, 2, change_bytes<false>);
  if (asked.has("test_wait") || asked.has("try_wait")) return bind_test(function, asked);
  return asked.has("pending_count") ? bind_pending_count(asked) : std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
