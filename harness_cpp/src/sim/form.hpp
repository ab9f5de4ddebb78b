// What an instruction's name asks for, as enums: opcode, types, rounding, everything else in order.
// Compiled once, so that the op files, compiled twice, need no text handling of their own.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "ptx/module.hpp"

namespace cudaopt::sim {

enum class Opcode : std::uint8_t {
  activemask,
  abs,
  add,
  addc,
  and_,
  atom,
  bar,
  bfe,
  bfi,
  bfind,
  bmsk,
  brev,
  clz,
  cnot,
  copysign,
  cos,
  cvt,
  div,
  dp2a,
  dp4a,
  elect,
  ex2,
  fence,
  fma,
  fns,
  lg2,
  lop3,
  mad,
  mad24,
  madc,
  match,
  max,
  membar,
  min,
  mov,
  mul,
  mul24,
  neg,
  not_,
  or_,
  popc,
  prmt,
  rcp,
  red,
  redux,
  rem,
  rsqrt,
  sad,
  selp,
  set,
  setp,
  shf,
  shfl,
  shl,
  shr,
  sin,
  slct,
  sqrt,
  sub,
  subc,
  szext,
  tanh,
  testp,
  vabsdiff2,
  vabsdiff4,
  vadd2,
  vadd4,
  vavrg2,
  vavrg4,
  vmax2,
  vmax4,
  vmin2,
  vmin4,
  vote,
  vset2,
  vset4,
  vsub2,
  vsub4,
  xor_,
};

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3x2,
  e5m2x2,
};

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };

enum class Modifier : std::uint8_t {
  // How results are formed.
  ftz,
  noftz,
  sat,
  satfinite,
  relu,
  approx,
  full,
  nan_result,
  xorsign,
  abs,
  lo,
  hi,
  wide,
  cc,
  wrap,
  clamp,
  left,
  right,
  shiftamt,
  pack,
  // Comparisons; `lo` and `hi` above are two more for unsigned operands.
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  ls,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
  // Combining a comparison with a predicate, and what an atomic or a reduction does.
  and_,
  or_,
  xor_,
  add,
  inc,
  dec,
  exch,
  cas,
  min,
  max,
  // Warp-wide operations.
  sync,
  warp,
  up,
  down,
  bfly,
  idx,
  all,
  any,
  uni,
  ballot,
  // prmt modes, testp questions.
  f4e,
  b4e,
  rc8,
  ecl,
  ecr,
  rc16,
  finite,
  infinite,
  number,
  notanumber,
  normal,
  subnormal,
  // How many elements a vector has.
  v2,
  v4,
  // State spaces, scopes and orders.
  global,
  shared,
  cta,
  cluster,
  gpu,
  system,
  gl,
  relaxed,
  acquire,
  release,
  acq_rel,
  sc,
};

struct Form {
  Opcode opcode = Opcode::mov;
  std::array<Type, 4> types{};  // in the order written; `none` beyond
  std::uint8_t type_count = 0;
  Rounding rounding = Rounding::none;
  std::array<Modifier, 8> modifiers{};
  std::uint8_t modifier_count = 0;

  [[nodiscard]] Type type() const { return types[0]; }
  [[nodiscard]] bool has(Modifier modifier) const;
  // True if no modifier was written beyond those listed.
  [[nodiscard]] bool only(std::initializer_list<Modifier> allowed) const;
};

// nullopt: an opcode, type or modifier no op file knows.
[[nodiscard]] std::optional<Form> read_form(const ptx::Instruction& instruction);

// True if the operand is a register of 64 bits, whatever type the instruction names.
[[nodiscard]] bool is_wide_register(const ptx::Function& function, const ptx::Operand& operand);

}  // namespace cudaopt::sim
