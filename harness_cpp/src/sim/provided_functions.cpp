#include "sim/provided_functions.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "sim/block.hpp"
#include "sim/fault.hpp"
#include "sim/memory.hpp"
#include "sim/printed_text.hpp"
#include "sim/printf_format.hpp"

namespace cudaopt::sim {
namespace {

std::uint64_t argument64(Warp& warp, const Op& op, std::size_t index, int lane) {
  const std::uint32_t* words = lanes<std::uint32_t>(warp, op.src[index]);
  return words[lane] | static_cast<std::uint64_t>(words[kLanes + lane]) << 32;
}

// What one lane hands to printf, read from its memory; a wild pointer is a fault of that lane.
class LaneArguments final : public PrintfArguments {
 public:
  LaneArguments(Warp& warp, const Op& op, int lane, std::uint64_t address)
      : m_warp(warp), m_op(op), m_lane(lane), m_next(address) {}

  std::uint64_t next(std::uint32_t bytes) override {
    m_next = (m_next + bytes - 1) / bytes * bytes;
    const std::uint8_t* at = read(m_next, bytes);
    m_next += bytes;
    std::uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    return value;
  }

  std::string text(std::uint64_t address, std::size_t most) override {
    std::string text;
    while (text.size() < most) {
      const char c = static_cast<char>(*read(address++, 1));
      if (c == '\0') break;
      text += c;
    }
    return text;
  }

 private:
  [[nodiscard]] const std::uint8_t* read(std::uint64_t address, std::uint32_t bytes) {
    return resolve(m_warp, m_op, ptx::Space::none, address, bytes, m_lane, AccessKind::load);
  }

  Warp& m_warp;
  const Op& m_op;
  int m_lane;
  std::uint64_t m_next;
};

std::int32_t print(Warp& warp, const Op& op, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    LaneArguments arguments(warp, op, lane, argument64(warp, op, 1, lane));
    const std::string format = arguments.text(argument64(warp, op, 0, lane), kMostPrinted);
    const Printed printed = format_printf(format, arguments);
    lanes<std::uint32_t>(warp, op.dst[0])[lane] = printed.arguments;
    std::string& text = warp.block->printed;
    text.append(printed.text, 0, kMostPrinted + 1 - std::min(kMostPrinted + 1, text.size()));
  }
  return op.pc + 1;
}

// A text in global memory, where the compiler puts those of assertions; "" where none is.
std::string global_text(const Launch& launch, std::uint64_t address) {
  const Allocation& allocation = *allocation_of(launch, address);
  const std::uint64_t at = address - allocation.base;
  if (allocation.base == 0 || at >= allocation.bytes) return "";
  const auto* begin = reinterpret_cast<const char*>(allocation.host + at);
  return {begin, std::find(begin, begin + (allocation.bytes - at), '\0')};
}

// message, file, line, function, size of a char: the source line is known better from the call.
std::int32_t fail_assertion(Warp& warp, const Op& op, std::uint32_t mask) {
  const int lane = __builtin_ctz(mask);
  std::string condition, function;
  if (op.src[4] >= 0) {
    condition = global_text(*warp.launch, argument64(warp, op, 0, lane));
    function = global_text(*warp.launch, argument64(warp, op, 3, lane));
  }
  FaultDetail detail;
  detail.kind = FaultKind::trap;
  detail.message = "an assertion of kernel '" + warp.launch->program->function->name +
                   "' does not hold" + (condition.empty() ? "" : ": " + condition) +
                   (function.empty() ? "" : " (in " + function + ")");
  fail(warp, op, lane, std::move(detail));
}

constexpr ProvidedFunction kProvided[] = {
    {"vprintf", 2, print},
    {"__assertfail", 5, fail_assertion},
};

}  // namespace

const ProvidedFunction* provided_function(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kProvided), std::end(kProvided),
                   [&](const ProvidedFunction& function) { return function.name == name; });
  return found == std::end(kProvided) ? nullptr : found;
}

}  // namespace cudaopt::sim
