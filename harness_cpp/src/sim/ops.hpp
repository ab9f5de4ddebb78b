// The tables that turn an instruction into handlers. Every ops_*.cpp is built twice, for baseline
// x86-64 and for x86-64-v3, in the namespace CUDAOPT_ISA; `bind` in decode.cpp asks the chosen set.
#pragma once

#include <optional>

#include "ptx/module.hpp"
#include "sim/machine.hpp"

namespace cudaopt::sim {

// What handlers look for beside their work, each what the one before does and more.
enum class Watch : std::uint8_t { nothing, accesses, rounding };

// Asks each family in turn; nullopt: this device cannot execute the instruction.
using Bind = std::optional<Binding> (*)(const ptx::Function& function,
                                        const ptx::Instruction& instruction, Watch watch);

// Runs a warp until it waits, exits, or has executed `limit` instructions; how many it executed.
// `executed` counts by pc.
using RunSlice = std::uint32_t (*)(Warp& warp, const Op* code, std::uint32_t limit,
                                   std::uint64_t* executed);

#define CUDAOPT_DECLARE_OPS(isa)                                                                   \
  namespace isa {                                                                                  \
  std::optional<Binding> bind_integer(const ptx::Function&,                                        \
                                      const ptx::Instruction&); /* ops_integer.cpp */              \
  std::optional<Binding> bind_bits(                                                                \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_bits.cpp: logic, shifts, prmt, lop3, bfe … */               \
  std::optional<Binding> bind_float(const ptx::Function&,                                          \
                                    const ptx::Instruction&); /* ops_float.cpp: f32, f64 */        \
  std::optional<Binding> bind_half(const ptx::Function&,                                           \
                                   const ptx::Instruction&); /* ops_half.cpp: f16, bf16, x2 */     \
  std::optional<Binding> bind_compare(                                                             \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_compare.cpp: setp, set, selp, slct, predicate logic */      \
  std::optional<Binding> bind_convert(const ptx::Function&,                                        \
                                      const ptx::Instruction&); /* ops_convert.cpp: cvt */         \
  std::optional<Binding> bind_move(                                                                \
      const ptx::Function&, const ptx::Instruction&); /* ops_move.cpp: mov, cvta, packing */       \
  std::optional<Binding> bind_memory(const ptx::Function&, const ptx::Instruction&,                \
                                     Watch); /* ops_memory.cpp: ld, st, ldu, prefetch */           \
  std::optional<Binding> bind_parameter_words(                                                     \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_parameter.cpp: ld.param, st.param of calls */               \
  std::optional<Binding> bind_atomic(const ptx::Function&, const ptx::Instruction&,                \
                                     Watch); /* ops_atomic.cpp: atom, red, fences */               \
  std::optional<Binding> bind_warp(                                                                \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_warp.cpp: shfl, vote, match, redux, activemask, bar.warp */ \
  std::optional<Binding> bind_clock(                                                               \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_clock.cpp: clocks, alloca and the local stack */            \
  std::optional<Binding> bind_control(                                                             \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_control.cpp: bra, ret, exit, bar, trap */                   \
  std::optional<Binding> bind_hint(                                                                \
      const ptx::Function&,                                                                        \
      const ptx::Instruction&); /* ops_hints.cpp: pmevent, setmaxnreg, griddepcontrol */           \
  std::optional<Binding> bind_matrix(const ptx::Function&,                                         \
                                     const ptx::Instruction&); /* ops_matrix.cpp: mma, wmma.mma */ \
  std::optional<Binding> bind_tile(const ptx::Function&, const ptx::Instruction&,                  \
                                   Watch); /* ops_tile.cpp: wmma.load, wmma.store */               \
  std::optional<Binding> bind_fragment(const ptx::Function&, const ptx::Instruction&,              \
                                       Watch); /* ops_fragment.cpp: ldmatrix and its kin */        \
  std::optional<Binding> bind_copy(const ptx::Function&, const ptx::Instruction&,                  \
                                   Watch); /* ops_copy.cpp: cp.async */                            \
  std::optional<Binding> bind_bulk(const ptx::Function&, const ptx::Instruction&,                  \
                                   Watch); /* ops_bulk.cpp: cp.async.bulk, proxy fences */         \
  std::optional<Binding> bind_phase(const ptx::Function&, const ptx::Instruction&,                 \
                                    Watch); /* ops_phase.cpp: mbarrier */                          \
  std::optional<Binding> bind(const ptx::Function&, const ptx::Instruction&,                       \
                              Watch); /* ops_table.cpp: all of the above */                        \
  std::uint32_t run_slice(Warp&, const Op*, std::uint32_t, std::uint64_t*); /* ops_dispatch.cpp */ \
  }

CUDAOPT_DECLARE_OPS(baseline)
CUDAOPT_DECLARE_OPS(v3)
#undef CUDAOPT_DECLARE_OPS

}  // namespace cudaopt::sim
