#include "sim/clock.hpp"

#include <numeric>

#include "sim/block.hpp"

namespace cudaopt::sim {
namespace {

// The dispatch loop counts by instruction only, so what this turn has executed is a difference.
std::uint64_t now(const Warp& warp, const Op& op) {
  const Block& block = *warp.block;
  const std::uint64_t all =
      std::accumulate(block.executed->begin(), block.executed->end(), std::uint64_t{0});
  const std::uint64_t instructions = warp.instructions + (all - block.executed_before);
  const std::uint64_t time = instructions * (static_cast<std::uint64_t>(op.aux) & 0xff);
  return (op.aux & 0x100) != 0 ? time >> 32 : time;
}

template <class T>
std::int32_t read_clock(Warp& warp, const Op& op, std::uint32_t mask) {
  const auto time = static_cast<T>(now(warp, op));
  T* to = lanes<T>(warp, op.dst[0]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1u) != 0) to[lane] = time;
  }
  return op.pc + 1;
}

}  // namespace

bool reads_clock(const Op& op) { return op.full == read_clock32 || op.full == read_clock64; }

std::int32_t read_clock32(Warp& warp, const Op& op, std::uint32_t mask) {
  return read_clock<std::uint32_t>(warp, op, mask);
}

std::int32_t read_clock64(Warp& warp, const Op& op, std::uint32_t mask) {
  return read_clock<std::uint64_t>(warp, op, mask);
}

}  // namespace cudaopt::sim
