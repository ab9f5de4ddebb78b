#include "cuda/kernel.hpp"

#include <algorithm>

#include "argument_bytes.hpp"
#include "cuda/launch_attributes.hpp"
#include "cuda/result.hpp"
#include "launch_limits.hpp"

namespace cudaopt::cuda {
namespace {

constexpr Result kInvalidValue = 1, kNotFound = 500;
// CUfunction_attribute.
constexpr int kMaxThreadsPerBlock = 0, kStaticSharedBytes = 1, kMaxDynamicSharedBytes = 8,
              kClusterMustBeSet = 10, kRequiredClusterX = 11;

int attribute_of(const Driver& driver, FunctionHandle function, int which) {
  int value = 0;
  CUDAOPT_CUDA(driver, function_get_attribute, &value, which, function);
  return value;
}

// Arguments that do not fit would be read as garbage: the driver takes them on trust.
void check_arguments(const Driver& driver, FunctionHandle function, const LaunchSpec& spec,
                     const std::vector<std::vector<std::uint8_t>>& values) {
  if (driver->function_get_parameter == nullptr) return;
  std::size_t count = 0, offset = 0, bytes = 0;
  for (;; ++count) {
    const Result found = driver->function_get_parameter(function, count, &offset, &bytes);
    if (found != 0 && !meaning_of(found).ends_process) break;  // there are no more
    driver.check_own_work(found, "the parameters of '" + spec.entry + "'");
    if (count < values.size() && values[count].size() != bytes) {
      refuse_launch(spec, "parameter " + std::to_string(count) + " has " + std::to_string(bytes) +
                              " bytes, got " + std::to_string(values[count].size()) + " bytes");
    }
  }
  if (count != values.size()) {
    refuse_launch(spec, "the kernel has " + std::to_string(count) + " parameters, got " +
                            std::to_string(values.size()) + " arguments");
  }
}

// Only ever raised, as it is the function's, and other launches of it may need more.
void allow_shared_bytes(const Context& context, FunctionHandle function, const LaunchSpec& spec) {
  if (spec.shared_bytes == 0) return;
  const Driver& driver = context.driver();
  const int most = static_cast<int>(context.facts().max_shared_bytes) -
                   attribute_of(driver, function, kStaticSharedBytes);
  const int raised = std::max(static_cast<int>(spec.shared_bytes),
                              attribute_of(driver, function, kMaxDynamicSharedBytes));
  driver.check(
      driver->function_set_attribute(function, kMaxDynamicSharedBytes, std::min(raised, most)),
      "launch of '" + spec.entry + "' with " + std::to_string(spec.shared_bytes) +
          " bytes of dynamic shared memory");
}

// What the kernel was compiled for. Drivers that know no clusters know no such attribute.
void read_cluster(const Context& context, FunctionHandle function, KernelFacts& facts) {
  if (!context.facts().launches_clusters) return;
  const auto read = [&](int which) { return attribute_of(context.driver(), function, which); };
  facts.needs_cluster = read(kClusterMustBeSet) != 0;
  if (const int x = read(kRequiredClusterX); x != 0) {
    facts.compiled_cluster =
        Dim3{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(read(kRequiredClusterX + 1)),
             static_cast<std::uint32_t>(read(kRequiredClusterX + 2))};
  }
}

// A grid that waits for blocks which never start would hang. After `allow_shared_bytes`.
void check_cooperative(const Context& context, FunctionHandle function, const LaunchSpec& spec) {
  if (!spec.cooperative) return;
  int blocks = 0;
  CUDAOPT_CUDA(context.driver(), occupancy_blocks, &blocks, function,
               static_cast<int>(spec.block.count()), spec.shared_bytes);
  check_resident(spec, static_cast<std::uint64_t>(blocks), context.facts());
}

void check_limits(const Context& context, FunctionHandle function, const LaunchSpec& spec) {
  const Driver& driver = context.driver();
  KernelFacts facts;
  facts.static_shared_bytes =
      static_cast<std::uint64_t>(attribute_of(driver, function, kStaticSharedBytes));
  facts.max_threads =
      static_cast<std::uint64_t>(attribute_of(driver, function, kMaxThreadsPerBlock));
  facts.max_threads_of = "the kernel as compiled (registers, __launch_bounds__)";
  read_cluster(context, function, facts);
  check_launch(spec, facts, context.facts());
}

}  // namespace

LoadedModule::LoadedModule(const Context& context, const CompiledModule& compiled)
    : m_context(context), m_name(compiled.name) {
  context.driver().check(context.driver()->module_load_data(&m_module, compiled.cubin.data()),
                         "loading module '" + compiled.name + "' on a GPU of architecture " +
                             context.facts().architecture);
}

LoadedModule::~LoadedModule() { m_context.driver()->module_unload(m_module); }

FunctionHandle LoadedModule::function(const std::string& lowered_entry) const {
  FunctionHandle function = nullptr;
  const Driver& driver = m_context.driver();
  const Result found = driver->module_get_function(&function, m_module, lowered_entry.c_str());
  if (found == kNotFound) {
    throw Fault(FaultKind::unknown_entry,
                "the cubin of module '" + m_name + "' has no kernel '" + lowered_entry + "'.");
  }
  driver.check(found, "kernel '" + lowered_entry + "'");
  // Else the driver may put loading its code off until a launch, one that is timed perhaps.
  if (driver->function_load != nullptr) {
    driver.check(driver->function_load(function), "loading kernel '" + lowered_entry + "'");
  }
  return function;
}

std::optional<Variable> LoadedModule::variable(const std::string& lowered_name) const {
  Variable variable;
  std::size_t bytes = 0;
  const Driver& driver = m_context.driver();
  const Result found =
      driver->module_get_global(&variable.pointer, &bytes, m_module, lowered_name.c_str());
  if (found == kNotFound) return std::nullopt;
  driver.check(found, "variable '" + lowered_name + "' of module '" + m_name + "'");
  variable.bytes = bytes;
  return variable;
}

KernelLaunch::KernelLaunch(const Context& context, FunctionHandle function, const LaunchSpec& spec,
                           const PointerOf& pointer_of)
    : m_context(context), m_function(function), m_spec(spec) {
  for (const Argument& argument : spec.arguments) {
    m_values.push_back(argument_bytes(argument, pointer_of));
  }
  check_arguments(context.driver(), function, spec, m_values);
  check_limits(context, function, spec);
  for (std::vector<std::uint8_t>& value : m_values) m_parameters.push_back(value.data());
  allow_shared_bytes(context, function, spec);
  check_cooperative(context, function, spec);
}

Result KernelLaunch::submit() const {
  if (has_attributes(m_spec)) {
    return launch_with_attributes(m_context.driver(), m_function, m_spec, m_context.stream(),
                                  m_parameters.data());
  }
  const Dim3 &grid = m_spec.grid, &block = m_spec.block;
  return m_context.driver()->launch_kernel(m_function, grid.x, grid.y, grid.z, block.x, block.y,
                                           block.z, m_spec.shared_bytes, m_context.stream(),
                                           m_parameters.data(), nullptr);
}

void KernelLaunch::enqueue() const {
  const Result result = submit();
  if (result == kInvalidValue)
    refuse_launch(m_spec, "the driver refuses it (CUDA_ERROR_INVALID_VALUE).");
  m_context.driver().check(result, "launch of '" + m_spec.entry + "'");
}

}  // namespace cudaopt::cuda
