// A loaded kernel and one launch of it: its arguments laid out, its limits checked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cuda/context.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// A __constant__ or __device__ variable.
struct Variable {
  DevicePointer pointer = 0;
  std::uint64_t bytes = 0;
};

class LoadedModule {
 public:
  // Throws a Fault that says which architecture the cubin is for, if the GPU cannot take it.
  LoadedModule(const Context& context, const CompiledModule& compiled);
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  ~LoadedModule();

  // Throws Fault unknown_entry.
  [[nodiscard]] FunctionHandle function(const std::string& lowered_entry) const;
  // None if there is no variable of that name.
  [[nodiscard]] std::optional<Variable> variable(const std::string& lowered_name) const;

 private:
  const Context& m_context;
  std::string m_name;
  ModuleHandle m_module = nullptr;
};

// Where a buffer's pointer is, for this launch: measuring shifts and rotates buffers.
using PointerOf = std::function<DevicePointer(const std::string& buffer)>;

class KernelLaunch {
 public:
  // Throws Fault invalid_launch for what breaks a limit, naming both.
  KernelLaunch(const Context& context, FunctionHandle function, const LaunchSpec& spec,
               const PointerOf& pointer_of);

  // The parameters point into the values: a copy's would point into the original's.
  KernelLaunch(const KernelLaunch&) = delete;
  KernelLaunch& operator=(const KernelLaunch&) = delete;
  KernelLaunch(KernelLaunch&&) = default;

  // Queues the launch. Throws Fault invalid_launch or launch_error.
  void enqueue() const;

 private:
  [[nodiscard]] Result submit() const;

  const Context& m_context;
  FunctionHandle m_function;
  LaunchSpec m_spec;
  std::vector<std::vector<std::uint8_t>> m_values;  // one per parameter
  mutable std::vector<void*> m_parameters;          // into m_values
};

}  // namespace cudaopt::cuda
