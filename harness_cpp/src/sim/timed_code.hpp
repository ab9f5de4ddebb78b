// What timing needs to know of each decoded instruction: registers read and written, memory access,
// and how many issue slots the machine code is likely to spend on it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ptx/module.hpp"
#include "sim/machine.hpp"
#include "sim/program.hpp"
#include "sim/timed_matrix.hpp"

namespace cudaopt::sim {

struct TimedOp {
  enum class Kind : std::uint8_t { compute, load, store, atomic, boundary };
  Kind kind = Kind::compute;
  ptx::Space space = ptx::Space::none;  // of the access; none: generic
  bool any_order = false;               // a load the compiler may hoist above stores: ld.global.nc
  std::int32_t leader = -1;  // pc of the load of neighbouring words ptxas joins this one to
  std::uint8_t slots = 1;    // warp instructions of machine code
  std::uint8_t bytes = 0;    // per lane
  std::uint16_t latency = 4;
  Pipe pipe = Pipe::integer;
  CopyStep copy = CopyStep::none;
  std::uint16_t pending_groups = 0;  // CopyStep::wait_group: how many may be
  bool is_tile = false;              // wmma.load, wmma.store: addresses of its own
  // Registers by index; -1 ends the list.
  std::array<std::int32_t, 9> written;
  std::array<std::int32_t, 25> read;

  TimedOp() {
    written.fill(-1);
    read.fill(-1);
  }
};

struct TimedCode {
  std::vector<TimedOp> ops;  // by Op::pc
  std::size_t registers = 0;
};

// Of one function whose code these ops are, from pc 0 on.
[[nodiscard]] TimedCode timed_code(const ptx::Function& function, const std::vector<Op>& ops);

// Of a kernel and all it calls. Registers are a function's own, whoever called it.
[[nodiscard]] TimedCode timed_code(const Program& program);

}  // namespace cudaopt::sim
