#include "sim/launch_checks.hpp"

#include <cstring>
#include <string>

namespace cudaopt::sim {
namespace {

[[noreturn]] void refuse(const LaunchSpec& spec, const std::string& why) {
  throw Fault(FaultKind::invalid_launch, "launch of '" + spec.entry + "': " + why);
}

std::string text(const Dim3& size) {
  return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," +
         std::to_string(size.z) + ")";
}

void check_extent(const LaunchSpec& spec, const char* what, const Dim3& size, const Dim3& limit) {
  if (size.x == 0 || size.y == 0 || size.z == 0) {
    refuse(spec, std::string(what) + " is " + text(size) + ", every dimension must be at least 1");
  }
  if (size.x > limit.x || size.y > limit.y || size.z > limit.z) {
    refuse(spec, std::string(what) + " is " + text(size) + ", the limit is " + text(limit));
  }
}

void check_block(const LaunchSpec& spec, const Program& program, const DeviceLimits& limits) {
  check_extent(spec, "block", spec.block, limits.max_block);
  const std::uint64_t threads = spec.block.count();
  if (threads > limits.max_threads_per_block) {
    refuse(spec, "a block of " + std::to_string(threads) + " threads, the limit is " +
                     std::to_string(limits.max_threads_per_block));
  }
  const ptx::Function& function = *program.function;
  const Dim3 bound{function.max_threads[0], function.max_threads[1], function.max_threads[2]};
  if (bound.x == 0) return;
  const Dim3 given{bound.x, bound.y == 0 ? 1 : bound.y, bound.z == 0 ? 1 : bound.z};
  const bool same = given.x == spec.block.x && given.y == spec.block.y && given.z == spec.block.z;
  if (function.required_threads && !same) {
    refuse(spec, "block is " + text(spec.block) + ", the kernel requires exactly " + text(given));
  }
  if (!function.required_threads && threads > given.count()) {
    refuse(spec, "a block of " + std::to_string(threads) + " threads, __launch_bounds__ allows " +
                     std::to_string(given.count()));
  }
}

void check_shared(const LaunchSpec& spec, const Program& program, const DeviceLimits& limits) {
  const std::uint64_t total = std::uint64_t{program.static_shared_bytes} + spec.shared_bytes;
  if (total <= limits.max_shared_bytes) return;
  refuse(spec, std::to_string(total) + " bytes of shared memory (" +
                   std::to_string(program.static_shared_bytes) + " static, " +
                   std::to_string(spec.shared_bytes) + " dynamic), the limit is " +
                   std::to_string(limits.max_shared_bytes));
}

std::vector<std::uint8_t> bytes_of(const Argument& argument, const DeviceMemory& memory) {
  if (argument.kind == Argument::Kind::scalar) return argument.bytes;
  const std::uint64_t address =
      argument.kind == Argument::Kind::buffer ? memory.address_of(argument.buffer) : 0;
  std::vector<std::uint8_t> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

std::string describe(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::buffer:
      return "the pointer to buffer '" + argument.buffer + "'";
    case Argument::Kind::null:
      return "a null pointer";
    case Argument::Kind::scalar:
      break;
  }
  return "a scalar " + argument.dtype;
}

}  // namespace

void check_shape(const LaunchSpec& spec, const Program& program, const DeviceLimits& limits) {
  check_extent(spec, "grid", spec.grid, limits.max_grid);
  check_block(spec, program, limits);
  check_shared(spec, program, limits);
}

std::vector<std::uint8_t> parameter_block(const LaunchSpec& spec, const Program& program,
                                          const DeviceMemory& memory) {
  const std::vector<ptx::Parameter>& parameters = program.function->parameters;
  if (parameters.size() != spec.arguments.size()) {
    refuse(spec, "the kernel has " + std::to_string(parameters.size()) + " parameters, got " +
                     std::to_string(spec.arguments.size()) + " arguments");
  }
  std::vector<std::uint8_t> block(program.function->parameter_bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::uint8_t> bytes = bytes_of(spec.arguments[i], memory);
    if (bytes.size() != parameters[i].bytes) {
      refuse(spec, "parameter " + std::to_string(i) + " ('" + parameters[i].name + "') has " +
                       std::to_string(parameters[i].bytes) + " bytes, got " +
                       std::to_string(bytes.size()) + " bytes (" + describe(spec.arguments[i]) +
                       ")");
    }
    std::memcpy(block.data() + parameters[i].offset, bytes.data(), bytes.size());
  }
  return block;
}

}  // namespace cudaopt::sim
