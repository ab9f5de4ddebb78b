#include "sim/memory.hpp"

#include <algorithm>

#include "sim/block.hpp"
#include "sim/frames.hpp"
#include "sim/module_image.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Space;

// One lane's access on its way to a host address or a fault.
struct LaneAccess {
  Warp& warp;
  const Op& op;
  std::uint64_t address;  // within `space`
  std::uint32_t bytes;
  int lane;
  AccessKind kind;
};

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "reads";
    case AccessKind::store:
      return "writes";
    case AccessKind::atomic:
      break;
  }
  return "updates";
}

const char* access_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "read";
    case AccessKind::store:
      return "write";
    case AccessKind::atomic:
      break;
  }
  return "atomic";
}

FaultDetail detail_of(const LaneAccess& access, FaultKind kind, const char* space) {
  FaultDetail detail;
  detail.kind = kind;
  detail.bytes = access.bytes;
  detail.access = access_name(access.kind);
  detail.space = space;
  return detail;
}

std::string subject(const LaneAccess& access) {
  return "kernel '" + access.warp.launch->program->function->name + "' " + verb(access.kind) + " ";
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b < 0);
}

[[noreturn]] void fail_misaligned(const LaneAccess& access, FaultDetail detail,
                                  const std::string& where) {
  detail.kind = FaultKind::misaligned;
  detail.message = subject(access) + std::to_string(access.bytes) + " bytes at " + where +
                   ", which is not a multiple of " + std::to_string(access.bytes) + " bytes";
  fail(access.warp, access.op, access.lane, std::move(detail));
}

// The nearest array names the address, however far away it is.
[[noreturn]] void fail_global(const LaneAccess& access, const Allocation& allocation) {
  FaultDetail detail = detail_of(access, FaultKind::illegal_address, "global");
  if (allocation.base == 0) {
    detail.message = subject(access) + std::to_string(access.bytes) + " bytes at address " +
                     std::to_string(access.address) +
                     " of global memory, where no buffer is (a null or corrupted pointer)";
    fail(access.warp, access.op, access.lane, std::move(detail));
  }
  const auto distance = static_cast<std::int64_t>(access.address - allocation.base);
  const auto element_bytes = static_cast<std::int64_t>(allocation.element_bytes);
  const std::int64_t element = floor_divide(distance, element_bytes);
  const std::uint64_t elements = allocation.bytes / allocation.element_bytes;
  detail.buffer = allocation.name;
  detail.element = element;
  detail.elements = elements;
  const std::string name = allocation.name + "[" + std::to_string(element) + "]";
  const bool inside = distance >= 0 && access.bytes <= allocation.bytes &&
                      static_cast<std::uint64_t>(distance) <= allocation.bytes - access.bytes;
  if (inside && access.address % access.bytes != 0) {
    fail_misaligned(access, std::move(detail),
                    name + " (byte " + std::to_string(distance) + " of '" + allocation.name + "')");
  }
  if (inside) {
    detail.kind = FaultKind::write_to_input;
    detail.message = subject(access) + name + ", but '" + allocation.name +
                     "' is an input; declare it InOut if the kernel may change it";
  } else {
    detail.message = subject(access) + name + " (" + std::to_string(access.bytes) +
                     " bytes), but '" + allocation.name + "' has " + std::to_string(elements) +
                     " elements of " + std::to_string(element_bytes) + " bytes";
  }
  fail(access.warp, access.op, access.lane, std::move(detail));
}

std::uint8_t* resolve_global(const LaneAccess& access) {
  const Allocation& allocation = *allocation_of(*access.warp.launch, access.address);
  const std::uint64_t at = access.address - allocation.base;
  const bool fits = access.bytes <= allocation.bytes && at <= allocation.bytes - access.bytes;
  const bool aligned = access.address % access.bytes == 0;
  const bool may_write = access.kind == AccessKind::load || !allocation.read_only;
  if (!fits || !aligned || !may_write) fail_global(access, allocation);
  return allocation.host + at;
}

// A window of `size` bytes whose variables are `ranges`.
struct Window {
  const char* name;
  std::uint8_t* host;
  std::uint64_t size;
  const std::vector<NamedRange>* ranges;
};

// The variable at or below the address: an overrun belongs to the array it started from.
const NamedRange* range_at(const Window& window, std::uint64_t address) {
  const NamedRange* nearest = nullptr;
  if (window.ranges == nullptr) return nullptr;
  for (const NamedRange& range : *window.ranges) {
    if (range.offset <= address) nearest = &range;
  }
  return nearest;
}

[[noreturn]] void fail_window(const LaneAccess& access, const Window& window) {
  FaultDetail detail = detail_of(access, FaultKind::illegal_address, window.name);
  const NamedRange* range = range_at(window, access.address);
  if (range != nullptr) detail.buffer = range->name;
  const std::string where = "byte " + std::to_string(static_cast<std::int64_t>(access.address)) +
                            " of " + window.name + " memory" +
                            (range == nullptr ? "" : " (past '" + range->name + "')");
  const bool fits = access.bytes <= window.size && access.address <= window.size - access.bytes;
  if (fits) fail_misaligned(access, std::move(detail), where);
  detail.message =
      subject(access) + std::to_string(access.bytes) + " bytes at " + where + ", but " +
      (window.size == 0 ? "the kernel has none" : std::to_string(window.size) + " bytes are there");
  fail(access.warp, access.op, access.lane, std::move(detail));
}

std::uint8_t* resolve_in(const LaneAccess& access, const Window& window) {
  const bool fits = access.bytes <= window.size && access.address <= window.size - access.bytes;
  if (!fits || access.address % access.bytes != 0) fail_window(access, window);
  return window.host + access.address;
}

std::uint8_t* resolve_shared(const LaneAccess& access) {
  const Block& block = *access.warp.block;
  return resolve_in(access, {"shared", block.shared, block.shared_bytes,
                             &access.warp.launch->program->shared_variables});
}

// Callees reach their callers' arrays through pointers, so all frames up to this one are in bounds.
// The names are the kernel's own, whose frame is the lowest.
std::uint8_t* resolve_local(const LaneAccess& access) {
  const Frame& frame = *access.warp.frame;
  const bool in_kernel = frame.caller == nullptr;
  return resolve_in(access, {"local", local_memory(access.warp, access.lane),
                             frame.local_end[static_cast<std::size_t>(access.lane)],
                             in_kernel ? &access.warp.launch->program->local_variables : nullptr});
}

[[noreturn]] void fail_read_only(const LaneAccess& access, const char* space) {
  FaultDetail detail = detail_of(access, FaultKind::illegal_address, space);
  detail.message = subject(access) + std::to_string(access.bytes) + " bytes of " + space +
                   " memory, which kernels can only read";
  fail(access.warp, access.op, access.lane, std::move(detail));
}

std::uint8_t* resolve_constant(const LaneAccess& access) {
  const Launch& launch = *access.warp.launch;
  if (access.kind != AccessKind::load) fail_read_only(access, "const");
  return resolve_in(access,
                    {"const", launch.constants, launch.constant_bytes, &launch.image->constants()});
}

std::uint8_t* resolve_parameter(const LaneAccess& access) {
  Launch& launch = *access.warp.launch;
  if (access.kind != AccessKind::load) fail_read_only(access, "param");
  return resolve_in(access, {"param", launch.parameters.data(), launch.parameters.size(), nullptr});
}

std::uint64_t window_base(Space space) {
  switch (space) {
    case Space::shared:
      return kSharedWindow;
    case Space::local:
      return kLocalWindow;
    case Space::constant:
      return kConstantWindow;
    case Space::param:
      return kParamWindow;
    default:
      return 0;
  }
}

}  // namespace

Space space_of_generic(std::uint64_t address) {
  if (address >= kGlobalStride / 2) return Space::global;
  switch (address >> 32) {
    case kSharedWindow >> 32:
      return Space::shared;
    case kLocalWindow >> 32:
      return Space::local;
    case kConstantWindow >> 32:
      return Space::constant;
    case kParamWindow >> 32:
      return Space::param;
    default:
      return Space::global;
  }
}

std::uint8_t* local_memory(const Warp& warp, int lane) {
  const Block& block = *warp.block;
  const std::uint64_t thread = warp.index * kLanes + static_cast<std::uint64_t>(lane);
  return block.local + thread * block.local_bytes;
}

std::uint8_t* resolve(Warp& warp, const Op& op, Space space, std::uint64_t address,
                      std::uint32_t bytes, int lane, AccessKind kind) {
  if (space == Space::none) {
    space = space_of_generic(address);
    address -= window_base(space);
  }
  const LaneAccess access{warp, op, address, bytes, lane, kind};
  switch (space) {
    case Space::shared:
      return resolve_shared(access);
    case Space::local:
      return resolve_local(access);
    case Space::constant:
      return resolve_constant(access);
    case Space::param:
      return resolve_parameter(access);
    default:
      return resolve_global(access);
  }
}

}  // namespace cudaopt::sim
