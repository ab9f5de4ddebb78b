// What a fault says: the sentence, the user's line, the instruction, the thread.
#pragma once

#include <cstdint>
#include <string>

#include "device.hpp"
#include "ptx/module.hpp"
#include "sim/machine.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// Fills `detail` with the source lines and the text of `op`'s instruction.
void add_source(const Program& program, const Op& op, FaultDetail& detail);

// The same, and then the lines its function was called from. Returns all of them as text:
// "f.cuh:3, inlined from f.cuh:9, called from k.cu:20", or "".
std::string add_place(const Warp& warp, const Op& op, FaultDetail& detail);

// "saxpy.cu:14", "gemm.cu:41, inlined from gemm.cu:88", or "" without line information.
[[nodiscard]] std::string line_text(const FaultDetail& detail);

// "(3,0,0)"
[[nodiscard]] std::string index_text(const Dim3& index);

// The index of the block's thread that `lane` of `warp` is.
[[nodiscard]] Dim3 thread_index(const Warp& warp, int lane);

// "sim cannot execute 'wgmma...' (gemm.cu:41)": what `load` notes and `raise_unsupported` begins
// with.
[[nodiscard]] std::string unsupported_note(const Program& program,
                                           const ptx::Instruction& instruction);

// Handler of instructions without one: raises unsupported_instruction.
std::int32_t raise_unsupported(Warp& warp, const Op& op, std::uint32_t mask);

// Raises unsupported_instruction for a form that can be executed only in other circumstances.
[[noreturn]] void fail_unsupported(const Warp& warp, const Op& op, const std::string& why);

}  // namespace cudaopt::sim
