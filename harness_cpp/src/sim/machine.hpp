// The state one warp executes on, and the shape of one decoded instruction.
// Hot path: 32 lanes per dispatch, structure-of-arrays registers, no virtual calls, no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device.hpp"
#include "ptx/module.hpp"

namespace cudaopt::sim {

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xffffffffu;

struct Warp;
struct Op;

// Executes one instruction for the lanes in `mask` (never 0) and returns the next program counter.
// `full` handlers may assume mask == kAllLanes.
using Handler = std::int32_t (*)(Warp& warp, const Op& op, std::uint32_t mask);

// How an operand is held. 8- and 16-bit values live in the low bits of a 32-bit lane; the upper
// bits are zero after every write and readers may rely on it.
enum class Slot : std::uint8_t { none, b32, b64, predicate };

// The bytes of a struct in which a handler of many operands keeps what it wants to know.
using FormBytes = std::array<std::uint8_t, 24>;

// What an ops file answers for an instruction it executes. Operands are counted flattened: vectors
// spread to their elements, an address counts as one source (its base register).
struct Binding {
  Handler full = nullptr, masked = nullptr;
  std::array<Slot, 4> dst{};
  std::array<Slot, 5> src{};
  Pipe pipe = Pipe::integer;
  std::uint16_t latency = 4;  // cycles from issue to result, for the scoreboard
  std::int32_t aux = 0;       // copied to Op::aux: whatever the handler wants to know
  // Instructions with more operands than an Op holds, or several addresses: all operands in the
  // order written, instead of `dst` and `src`; of these the first `wide_results` are written, and
  // `none` is not looked at. Op::aux becomes the index of their Program::wide_operands.
  std::vector<Slot> wide;
  std::uint32_t wide_results = 0;
  FormBytes form{};
};

struct Op {
  Handler full = nullptr, masked = nullptr;
  std::array<std::int32_t, 4> dst{-1, -1, -1,
                                  -1};  // byte offset into registers, or predicate index; -1: sink
  std::array<std::int32_t, 5> src{-1, -1, -1, -1, -1};
  std::int64_t imm = 0;          // displacement of the address operand
  std::int32_t guard = -1;       // predicate index; branches read it themselves
  std::int32_t pc = 0;           // own index
  std::int32_t target = -1;      // branches
  std::int32_t reconverge = -1;  // branches: pc where the lanes meet again, -1: at exit
  std::int32_t aux = 0;
  std::int32_t instruction = -1;  // index in ptx::Function::instructions, -1: inserted by decode
  std::int32_t memo = -1;         // memory: index of its address pattern in Block::patterns
  bool same_base = false;         // memory: an earlier op of the basic block with this memo has the
                                  // same base register, unchanged since
  std::uint16_t latency = 4;
  std::uint8_t src_negated = 0;  // bit per source predicate written !%p
  bool guard_negated = false;
  bool is_branch = false;     // guard is a condition, not a mask
  Slot address = Slot::none;  // memory instructions: width of src[0], the address base;
                              // none: the address is `imm` alone
  Pipe pipe = Pipe::integer;
};

enum class WarpState : std::uint8_t {
  running,
  at_barrier,
  exited,
  interrupted,  // by the instruction it executed last: it runs on, but its slice ends
};

struct Block;
struct Frame;
struct Launch;

// What the lanes of a split wait for, beside their turn.
enum class Wait : std::uint8_t {
  none,
  members,     // at a warp-wide instruction, for lanes it names
  whole_warp,  // at one that all lanes of a warp execute, for the others
  barrier,     // at a barrier, for the other lanes of the warp
};

// Lanes of a warp that left the others at a branch: where they go on, and where they wait.
struct Split {
  std::int32_t pc = 0;
  std::uint32_t mask = 0;
  std::int32_t reconverge = -1;
  Wait wait = Wait::none;
  Frame* frame = nullptr;      // of the call they are in
  Frame* returning = nullptr;  // they wait for this call to return: it ends with the split
};

// Every split halves a set of lanes, and waits for a join of a larger one: 31 of each at most.
// Calls add one per frame.
inline constexpr std::size_t kMaxSplits = 64;

struct WarpShadow;

struct Warp {
  std::uint8_t* registers = nullptr;    // 64-byte aligned; b32 slots of 128 bytes, b64 slots of 256
  std::uint32_t* predicates = nullptr;  // one bit per lane
  std::uint32_t active = 0;             // lanes on the current path
  std::uint32_t alive = 0;              // lanes that have not exited
  std::int32_t pc = 0;
  std::int32_t reconverge = -1;
  WarpState state = WarpState::running;
  std::uint32_t index = 0;  // in the block
  Frame* frame = nullptr;   // whose registers these are
  std::int32_t split_count = 0;
  std::vector<Split> splits = std::vector<Split>(kMaxSplits);  // a stack
  std::uint32_t parked = 0;    // lanes of the splits that wait for more than their turn
  std::uint32_t let_past = 0;  // lanes that went on where they should have met parked ones
  std::int32_t barrier = -1;   // the one waited at
  std::int32_t barrier_pc = -1;
  // `lane_mask_bits` expanded to all-ones / zero words, cached because masks repeat.
  alignas(64) std::uint32_t lane_mask[kLanes];
  std::uint32_t lane_mask_bits = 0;
  std::uint32_t carry = 0;         // CC.CF of add.cc, subc, madc …: one bit per lane
  std::uint64_t instructions = 0;  // before this turn
  Block* block = nullptr;
  Launch* launch = nullptr;
  Counters* counters = nullptr;
  WarpShadow* shadow = nullptr;  // of a program with one: sim/shadow.hpp
};

// Always inlined: these are compiled into the baseline and the x86-64-v3 handlers alike, and a copy
// the linker kept for both could run v3 instructions on an older machine.
template <class T>
[[nodiscard, gnu::always_inline]] inline T* lanes(Warp& warp, std::int32_t offset) {
  return static_cast<T*>(__builtin_assume_aligned(warp.registers + offset, 64));
}

// All-ones words for the lanes in `mask`, for blends the compiler vectorises.
[[nodiscard, gnu::always_inline]] inline const std::uint32_t* lane_mask(Warp& warp,
                                                                        std::uint32_t mask) {
  if (warp.lane_mask_bits != mask) {
    warp.lane_mask_bits = mask;
    for (int i = 0; i < kLanes; ++i) warp.lane_mask[i] = 0u - ((mask >> i) & 1u);
  }
  return warp.lane_mask;
}

// One lane's value of a register, whatever instruction set the handlers are for.
template <class T>
[[nodiscard]] static inline T lane_value(const Warp& warp, std::int32_t offset, int lane) {
  T value{};
  std::memcpy(&value, warp.registers + offset + static_cast<std::size_t>(lane) * sizeof value,
              sizeof value);
  return value;
}

// The address a lane's load, store or atomic is about to access.
[[nodiscard]] static inline std::uint64_t effective_address(const Warp& warp, const Op& op,
                                                            int lane) {
  std::uint64_t base = 0;
  if (op.address == Slot::b64) base = lane_value<std::uint64_t>(warp, op.src[0], lane);
  if (op.address == Slot::b32) base = lane_value<std::uint32_t>(warp, op.src[0], lane);
  return base + static_cast<std::uint64_t>(op.imm);
}

// The lanes that execute `op`, the warp's next: of a branch all, which then choose.
[[nodiscard]] static inline std::uint32_t executing_lanes(const Warp& warp, const Op& op) {
  if (op.guard < 0 || op.is_branch) return warp.active;
  const std::uint32_t predicate = warp.predicates[op.guard];
  return warp.active & (op.guard_negated ? ~predicate : predicate);
}

// Raises a Fault at `op`, adding source line, instruction text, block and thread of `lane`.
[[noreturn]] void fail(const Warp& warp, const Op& op, int lane, FaultDetail detail);

}  // namespace cudaopt::sim
