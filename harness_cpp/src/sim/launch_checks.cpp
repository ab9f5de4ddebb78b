#include "sim/launch_checks.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "argument_bytes.hpp"
#include "launch_limits.hpp"
#include "model/occupancy.hpp"

namespace cudaopt::sim {
namespace {

KernelFacts facts_of(const Program& program) {
  const ptx::Function& function = *program.function;
  KernelFacts facts;
  facts.static_shared_bytes = program.static_shared_bytes;
  facts.needs_cluster = function.explicit_cluster;
  if (function.cluster[0] != 0) {
    facts.compiled_cluster = Dim3{function.cluster[0], function.cluster[1], function.cluster[2]};
  }
  const Dim3 bound{function.max_threads[0], std::max(1u, function.max_threads[1]),
                   std::max(1u, function.max_threads[2])};
  if (bound.x == 0) return facts;
  if (function.required_threads) {
    facts.required_block = bound;
  } else {
    facts.max_threads = bound.count();
  }
  return facts;
}

std::string describe(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::buffer:
      return "the pointer to buffer '" + argument.buffer + "'";
    case Argument::Kind::null:
      return "a null pointer";
    case Argument::Kind::structure:
      return "a struct";
    case Argument::Kind::scalar:
      break;
  }
  return "a scalar " + argument.dtype;
}

std::uint32_t blocks_per_multiprocessor(const LaunchSpec& spec, const Program& program,
                                        const Resources& resources,
                                        const model::DeviceTable& table) {
  const std::uint64_t shared = std::uint64_t{program.static_shared_bytes} + spec.shared_bytes;
  return model::occupancy(table, spec.block.count(), resources.registers, shared).blocks_per_sm;
}

}  // namespace

void check_shape(const LaunchSpec& spec, const Program& program, const DeviceLimits& limits) {
  check_launch(spec, facts_of(program), limits);
}

void check_cooperative(const LaunchSpec& spec, const Program& program, const Resources& resources,
                       const model::DeviceTable& table, const DeviceLimits& limits) {
  if (!spec.cooperative) return;
  check_resident(spec, blocks_per_multiprocessor(spec, program, resources, table), limits);
}

std::uint64_t resident_blocks(const LaunchSpec& spec, const Program& program,
                              const Resources& resources, const model::DeviceTable& table) {
  const std::uint64_t each = blocks_per_multiprocessor(spec, program, resources, table);
  return std::max<std::uint64_t>(1, each * table.multiprocessors);
}

std::vector<std::uint8_t> parameter_block(const LaunchSpec& spec, const Program& program,
                                          const DeviceMemory& memory) {
  const std::vector<ptx::Parameter>& parameters = program.function->parameters;
  if (parameters.size() != spec.arguments.size()) {
    refuse_launch(spec, "the kernel has " + std::to_string(parameters.size()) +
                            " parameters, got " + std::to_string(spec.arguments.size()) +
                            " arguments");
  }
  const auto address_of = [&](const std::string& name) { return memory.address_of(name); };
  std::vector<std::uint8_t> block(program.function->parameter_bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::uint8_t> bytes = argument_bytes(spec.arguments[i], address_of);
    if (bytes.size() != parameters[i].bytes) {
      refuse_launch(spec, "parameter " + std::to_string(i) + " ('" + parameters[i].name +
                              "') has " + std::to_string(parameters[i].bytes) + " bytes, got " +
                              std::to_string(bytes.size()) + " bytes (" +
                              describe(spec.arguments[i]) + ")");
    }
    std::memcpy(block.data() + parameters[i].offset, bytes.data(), bytes.size());
  }
  return block;
}

}  // namespace cudaopt::sim
