// A block while it runs, the launch it belongs to, and the address patterns its worker remembers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine.hpp"
#include "sim/memory.hpp"
#include "sim/pending_copies.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

class BlockTracer;
class BlockWatch;
class Frames;
class LaunchShadow;
class LaunchWatch;
class ModuleImage;
class PrintedText;

enum class PatternKind : std::uint8_t {
  contiguous,
  broadcast,
  general,
  far,  // lanes further apart than 31 bits, or nothing seen yet
};

// The addresses of the last execution of one memory instruction, relative to its first lane. Most
// instructions repeat their pattern, and then bounds, alignment and cost follow from one address.
// The head is one cache line; regular patterns share the tables `expected` points to.
struct alignas(64) AddressPattern {
  static constexpr std::uint32_t kNoOwner = ~0u;

  std::uint32_t mask = 0;
  PatternKind kind = PatternKind::far;
  std::uint32_t low_bits = 0;              // all deltas or-ed: their alignment
  std::int32_t lowest = 0, highest = 0;    // delta of any lane
  std::uint32_t owner = kNoOwner;          // warp whose addresses were compared last
  const std::int32_t* expected = nullptr;  // delta by lane
  std::array<std::uint8_t, 32> cost{};     // sectors or wavefronts by phase; 0: not counted yet
  alignas(64) std::int32_t delta[kLanes]{};
};

inline constexpr int kBarriers = 16;

// One of the sixteen barriers of a block.
struct Barrier {
  std::uint32_t arrived = 0;     // threads, absent lanes of a warp included
  std::uint32_t expected = 0;    // threads; 0: all of the block
  std::uint32_t population = 0;  // bar.red: threads whose predicate held
  std::uint32_t waiting = 0;     // warps, bit per index
  bool everyone = true;          // bar.red: all predicates so far
};

// Where lanes of a warp left the kernel.
struct Leaving {
  std::int32_t pc = -1;
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
};

struct Block {
  Dim3 index;
  std::uint64_t linear = 0;
  std::uint8_t* shared = nullptr;
  std::uint32_t shared_bytes = 0;
  std::uint8_t* local = nullptr;  // of lane 0 of warp 0; one piece of `local_bytes` per thread
  std::uint32_t local_bytes = 0;  // frames of callees included
  AddressPattern* patterns = nullptr;
  std::array<Barrier, kBarriers> barriers{};
  PendingCopies copies;  // only in launches with checks
  std::vector<Warp>* warps = nullptr;
  std::vector<Leaving> left;       // one per pc and warp, by who came first
  std::uint64_t instructions = 0;  // warp instructions so far
  std::uint64_t spun = 0;          // of these, by warps that only looked whether they may go on
  std::uint64_t inserted = 0;      // of the dispatches, those of ops that decode inserted
  BlockTracer* tracer = nullptr;   // only while measuring
  BlockWatch* watch = nullptr;     // only in launches with checks
  Frames* frames = nullptr;
  // How often the worker executed each instruction, and what that summed up to before this turn.
  const std::vector<std::uint64_t>* executed = nullptr;
  std::uint64_t executed_before = 0;
  std::string printed;
};

struct Launch {
  const Program* program = nullptr;
  const ModuleImage* image = nullptr;
  std::uint8_t* constants = nullptr;
  std::uint64_t constant_bytes = 0;
  const Allocation* allocations = nullptr;  // by address, see allocation_of
  std::uint64_t allocation_count = 0;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;  // static and dynamic
  std::uint32_t dynamic_shared_bytes = 0;
  std::optional<Dim3> cluster;
  std::uint64_t grid_workspace = 0;      // where a cooperative grid synchronises; 0: it may not
  std::uint64_t block_instructions = 0;  // budget
  std::uint64_t resident_blocks = 0;     // as many have their turns side by side
  Order order;
  PrintedText* printed = nullptr;
  std::vector<std::uint8_t> parameters;
  LaunchShadow* shadow = nullptr;  // of a program with one: sim/launch_shadow.hpp
  LaunchWatch* watch = nullptr;    // only in launches with checks
};

// Allocations sit at multiples of the stride, so the nearest multiple names the allocation even for
// an address a little below it. Index 0 is empty: nothing lives near address 0.
[[nodiscard]] static inline const Allocation* allocation_of(const Launch& launch,
                                                            std::uint64_t address) {
  const std::uint64_t index = (address + kGlobalStride / 2) / kGlobalStride;
  return launch.allocations + (index < launch.allocation_count ? index : 0);
}

}  // namespace cudaopt::sim
