// The float64 shadow: beside every float value, what it would be had nothing been rounded.
//
// Numbers live in cells. A register of 32 bits has one cell (two in programs with 16-bit floats,
// one for each half): a double per lane, in a file of its own laid out like the registers. Memory
// has one cell for 4 bytes (2 with 16-bit floats): the double, the bits it belongs to, and a state.
// A cell whose bits are not those in memory is stale, whoever wrote there, and nobody need be told.
//
// Two things are remembered of a value, a bit per lane and register: `reseeded`, that somewhere on
// its way the code rounded on purpose or moved bits, so that the shadow began anew from the value;
// and `undecided`, that a comparison on its way went otherwise in float64, so that the two may
// differ by more than rounding.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/form.hpp"
#include "sim/machine.hpp"

namespace cudaopt::sim {

enum class Number : std::uint8_t { none, f32, f16, bf16, f64 };

// How many numbers of which format one operand holds.
struct Numbers {
  Number format = Number::none;
  std::uint8_t count = 1;
  [[nodiscard]] bool operator==(const Numbers& other) const {
    return format == other.format && count == other.count;
  }
};

[[nodiscard]] static inline std::uint32_t bytes_of(Number format) {
  if (format == Number::f64) return 8;
  return format == Number::f32 ? 4 : 2;
}

// What happens to the shadow, for each kind of instruction that touches it.
enum class ShadowRule : std::uint8_t {
  none,
  add,
  subtract,
  multiply,
  fused,
  divide,
  reciprocal,
  square_root,
  reciprocal_root,
  sine,
  cosine,
  power_of_two,
  logarithm,
  tangent,
  negate,
  absolute,
  copy_sign,
  minimum,
  maximum,
  move,          // numbers change their place: mov, packing, ld.param
  convert,       // float to float
  from_integer,  // and from f64, which is its own shadow
  to_integer,
  compare,
  select,
  sign_bits,  // or: a number gets the sign bit another operand holds
  load,
  store,
  shuffle,
  atomic_add,
  atomic_swap,  // exch and cas
  branch,
  across,  // the result depends on other lanes: vote, match, redux
  other,   // bits, integers: the result is what its bits say
};

struct Taint {
  std::uint32_t undecided = 0, reseeded = 0;  // one bit per lane
};

// One instruction of a program with a shadow. Cells are byte offsets into a warp's file of cells,
// -1 where an operand has none (a source then is what its bits say).
struct ShadowOp {
  ShadowRule rule = ShadowRule::none;
  Handler value_full = nullptr, value_masked = nullptr;
  Numbers from, to;
  std::array<std::int32_t, 4> dst_cells{-1, -1, -1, -1};
  std::array<std::int32_t, 5> src_cells{-1, -1, -1, -1, -1};
  std::array<std::int32_t, 4> dst_taints{};  // by index into a warp's taints; 0: none
  std::array<std::int32_t, 5> src_taints{};
  std::int32_t guard_taint = 0;
  Rounding rounding = Rounding::none;
  bool saturate = false, relu = false;
  bool on_purpose = false;    // a float operation that rounds on purpose: its shadow begins anew
  Type integer = Type::none;  // from_integer, to_integer: the other type
  // A load from shared memory that nothing but stores of f32 writes: its cells need no look at
  // bits.
  bool cells_are_current = false;
  bool narrow_address = false;  // of 32 bits
  ptx::Space space{};           // memory
  std::uint32_t elements = 1;   // memory: registers of the access
  std::uint32_t element_bytes = 4;
  std::int32_t lane_numbers = -1, scratch = -1;  // shuffle: slots of %laneid, and to write to
};

// Taints 0 and 1: always empty; written by whom nobody reads.
inline constexpr std::int32_t kNoTaint = 0, kTaintSink = 1, kFirstTaint = 2;

struct ShadowPlan {
  std::vector<ShadowOp> ops;  // by pc
  std::uint32_t cell_bytes = 4;
  std::uint32_t cells_per_word = 1;  // of registers
  std::uint32_t taints = 0;

  [[nodiscard]] std::uint32_t cells_bytes(std::uint32_t register_bytes) const {
    return register_bytes * 2 * cells_per_word;
  }
};

// What a cell in memory holds.
enum class CellKind : std::uint8_t { empty, f32, f16, bf16 };
inline constexpr std::uint8_t kUndecided = 1, kReseeded = 2, kKindShift = 2;

// The cells of one piece of memory. No cells: nothing there ever differs from its bits.
struct ShadowCells {
  double* values = nullptr;
  std::uint32_t* bits = nullptr;
  std::uint8_t* states = nullptr;
  std::uint64_t count = 0;
  std::uint32_t cell_bytes = 4;
};

// One lane's result that lost digits.
struct Loss {
  double growth = 0;  // of the relative error; 1: no digit is left
  double value = 0, shadow = 0;
  std::uint64_t block = 0;
  std::uint32_t thread = 0;

  // Of two equal ones the earlier counts, so that threads of the host make no difference.
  [[nodiscard]] bool exceeds(const Loss& other) const {
    if (growth != other.growth) return growth > other.growth;
    return block != other.block ? block < other.block : thread < other.thread;
  }
};

// What one instruction lost, over the executions looked at. Sums are integers, in units of 2^-32:
// they do not depend on the order of blocks.
struct LossCount {
  std::uint32_t executions = 0, losing = 0;               // in this block
  std::uint64_t lanes = 0, losing_lanes = 0, growth = 0;  // in all
  Loss worst;

  // An instruction is looked at often enough to know what it loses on average: in each block its
  // first executions, then every 16th, until some have lost.
  [[nodiscard]] bool looks() {
    ++executions;
    return losing < 16 && (executions <= 64 || executions % 16 == 0);
  }
};

// What a worker's block has beside its memory.
struct BlockShadow {
  ShadowCells shared, local;
  bool shared_tainted = false;    // some cell of shared memory is undecided or began anew
  std::vector<LossCount> losses;  // by pc
};

struct WarpShadow {
  std::uint8_t* cells = nullptr;
  Taint* taints = nullptr;
  std::uint32_t undecided = 0;  // lanes whose path itself is
  const ShadowOp* ops = nullptr;
  std::uint32_t cells_per_word = 1;
  BlockShadow* block = nullptr;
};

[[nodiscard]] static inline const ShadowOp& shadow_of(const Warp& warp, const Op& op) {
  return warp.shadow->ops[op.pc];
}

// The handler that follows a rule and executes the instruction, for any mask.
using BindShadow = Handler (*)(const ShadowOp& how);

#define CUDAOPT_DECLARE_SHADOW(isa)                              \
  namespace isa {                                                \
  Handler bind_shadow(const ShadowOp& how); /* ops_shadow.cpp */ \
  }
CUDAOPT_DECLARE_SHADOW(baseline)
CUDAOPT_DECLARE_SHADOW(v3)
#undef CUDAOPT_DECLARE_SHADOW

}  // namespace cudaopt::sim
