#include "sim/local_stack.hpp"

#include <algorithm>
#include <string>

#include "sim/block.hpp"
#include "sim/fault.hpp"
#include "sim/frames.hpp"

namespace cudaopt::sim {
namespace {

[[noreturn]] void fail_local(const Warp& warp, const Op& op, int lane, const std::string& what) {
  FaultDetail detail;
  detail.kind = FaultKind::illegal_address;
  detail.space = "local";
  detail.message = "kernel '" + warp.launch->program->function->name + "' " + what;
  fail(warp, op, lane, std::move(detail));
}

}  // namespace

std::int32_t allocate_local(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint64_t* sizes = lanes<std::uint64_t>(warp, op.src[0]);
  const std::uint64_t* alignments = lanes<std::uint64_t>(warp, op.src[1]);
  std::uint64_t* to = lanes<std::uint64_t>(warp, op.dst[0]);
  const std::uint64_t limit = warp.block->local_bytes;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::uint32_t& end = warp.frame->local_end[static_cast<std::size_t>(lane)];
    const std::uint64_t alignment = std::clamp<std::uint64_t>(alignments[lane], 1, 1u << 16);
    const std::uint64_t begin = (end + alignment - 1) / alignment * alignment;
    const std::uint64_t size = sizes[lane];
    if (begin > limit || size > limit - begin) {
      fail_local(warp, op, lane,
                 "overflows its stack: alloca of " + std::to_string(size) + " bytes, where " +
                     std::to_string(limit - std::min<std::uint64_t>(end, limit)) + " are left");
    }
    forget_local(warp, lane, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size));
    to[lane] = begin;
    end = static_cast<std::uint32_t>(begin + size);
  }
  return op.pc + 1;
}

std::int32_t save_local_stack(Warp& warp, const Op& op, std::uint32_t mask) {
  std::uint64_t* to = lanes<std::uint64_t>(warp, op.dst[0]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1u) != 0) to[lane] = warp.frame->local_end[lane];
  }
  return op.pc + 1;
}

std::int32_t restore_local_stack(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint64_t* from = lanes<std::uint64_t>(warp, op.src[0]);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const auto i = static_cast<std::size_t>(lane);
    if (from[lane] < warp.frame->local_begin[i] || from[lane] > warp.frame->local_end[i]) {
      fail_local(warp, op, lane,
                 "restores a stack that its function did not save: byte " +
                     std::to_string(from[lane]) + " of local memory");
    }
    warp.frame->local_end[i] = static_cast<std::uint32_t>(from[lane]);
  }
  return op.pc + 1;
}

}  // namespace cudaopt::sim
