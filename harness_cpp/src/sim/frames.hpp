// The calls a block's warps are in. Each has registers of its own, filled before its first
// instruction, and a piece of every thread's local memory behind that of its caller.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/block.hpp"

namespace cudaopt::sim {

struct Frame {
  const Routine* routine = nullptr;  // nullptr: the kernel's own
  Frame* caller = nullptr;
  std::int32_t call_pc = -1;  // in the caller
  std::uint8_t* registers = nullptr;
  std::uint32_t* predicates = nullptr;
  std::uint32_t stack_bytes = 0;                    // of one thread, callers included
  std::array<std::uint32_t, kLanes> local_begin{};  // by lane: where the frame's local memory is
  std::array<std::uint32_t, kLanes> local_end{};    // alloca moves it
};

// Runs the instructions of `frame` from now on.
void make_current(Warp& warp, Frame& frame);

// Bytes of a thread's local memory that nobody has written, whatever was there before.
void forget_local(const Warp& warp, int lane, std::uint32_t offset, std::uint32_t bytes);

class Frames {
 public:
  Frames(const Program& program, std::size_t warps);

  // The warp's registers as they are belong to the kernel's own frame. Once per warp.
  void keep_kernel_frame(const Warp& warp);
  // A block begins: `warp` is in no call.
  void begin(Warp& warp);

  // A new frame for the call at `call`, current from then on. Raises a Fault where the stack ends.
  Frame& enter(Warp& warp, const Routine& routine, const Op& call, std::uint32_t mask);
  // Nobody will return to this frame's code.
  void leave(const Warp& warp, Frame& frame);

 private:
  struct alignas(64) Line {
    std::uint8_t bytes[64];
  };
  struct Stored : Frame {
    std::vector<Line> lines;
    std::vector<std::uint32_t> predicate_words;
    std::uint64_t block = ~std::uint64_t{0};  // whose special registers it holds
  };
  [[nodiscard]] Stored& take(Warp& warp, const Routine& routine);
  [[nodiscard]] std::size_t list_of(const Warp& warp, const Routine& routine) const;

  const Program& m_program;
  std::vector<Frame> m_kernel;                                 // by warp
  std::vector<std::vector<std::unique_ptr<Stored>>> m_stored;  // by warp and routine
  std::vector<std::vector<Stored*>> m_free;                    // same index
};

}  // namespace cudaopt::sim
