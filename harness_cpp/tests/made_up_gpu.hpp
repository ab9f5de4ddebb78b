// A GPU of the made-up driver for a test: opened as new, with the settings the test asks for.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "cuda/context.hpp"
#include "cuda/driver.hpp"
#include "cuda/file_cache.hpp"
#include "cuda/kernel.hpp"
#include "cuda/memory.hpp"
#include "device.hpp"

namespace made_up_gpu {

using cudaopt::CompiledModule;

// Of made_up_driver/settings.hpp: Settings{{"GPUS", "2"}}.
using Settings = std::vector<std::pair<std::string, std::string>>;

// The driver as just opened, with these settings for as long as it lives. One at a time: a library
// is in its process once.
class MadeUpDriver {
 public:
  explicit MadeUpDriver(Settings settings = {}) : m_settings(std::move(settings)) {
    CHECK(!is_open());
    is_open() = true;
    m_settings.emplace_back("L2_BYTES", "65536");
    for (const auto& [name, value] : m_settings) setenv(variable(name).c_str(), value.c_str(), 1);
    call("made_up_reset");
  }
  MadeUpDriver(const MadeUpDriver&) = delete;
  MadeUpDriver& operator=(const MadeUpDriver&) = delete;
  ~MadeUpDriver() {
    is_open() = false;
    for (const auto& [name, value] : m_settings) unsetenv(variable(name).c_str());
  }

  [[nodiscard]] cudaopt::cuda::Driver open() const {
    return cudaopt::cuda::Driver(CUDAOPT_MADE_UP_DRIVER);
  }
  // Modules, streams, events, graphs, address space and host memory not given back.
  [[nodiscard]] int open_handles() const { return call("made_up_open_handles"); }

 private:
  static bool& is_open() {
    static bool open = false;
    return open;
  }
  static std::string variable(const std::string& name) { return "CUDAOPT_MADE_UP_" + name; }
  static int call(const char* function) {
    static void* library = dlopen(CUDAOPT_MADE_UP_DRIVER, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<int (*)()>(dlsym(library, function))();
  }

  Settings m_settings;
};

class Gpu {
 public:
  explicit Gpu(Settings settings = {})
      : m_made_up(std::move(settings)),
        m_driver(m_made_up.open()),
        m_context(m_driver, 0),
        m_files(m_context) {}

  [[nodiscard]] const cudaopt::cuda::Context& context() const { return m_context; }
  [[nodiscard]] cudaopt::cuda::FileCache& files() { return m_files; }
  [[nodiscard]] const MadeUpDriver& made_up() const { return m_made_up; }
  [[nodiscard]] std::uint64_t free_bytes() const {
    return m_context.limits().gpu.value().free_bytes;
  }

 private:
  MadeUpDriver m_made_up;
  cudaopt::cuda::Driver m_driver;
  cudaopt::cuda::Context m_context;
  cudaopt::cuda::FileCache m_files;
};

// A module with the kernels of these names, which say what they do.
inline CompiledModule module_of(const std::string& kernels, const std::string& name = "m") {
  CompiledModule module;
  module.name = name;
  module.cubin.assign(kernels.begin(), kernels.end());
  module.cubin.push_back(0);
  return module;
}

inline cudaopt::BufferSpec buffer_of(const std::string& name, std::uint64_t bytes,
                                     cudaopt::Access access = cudaopt::Access::read_write) {
  cudaopt::BufferSpec spec;
  spec.name = name;
  spec.bytes = bytes;
  spec.access = access;
  spec.element_bytes = 4;
  spec.poison = {0, 0, 0xc0, 0x7f};
  return spec;
}

inline std::vector<std::uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(4 * values.size());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / 4);
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// As of a file, though there is none.
inline cudaopt::FileContent content_of(std::vector<std::uint8_t> bytes) {
  const std::uint64_t size = bytes.size();
  return {"", size, [bytes = std::move(bytes)] { return bytes; }};
}

// A launch of `entry` on the buffers "x" and "y" of n elements.
inline cudaopt::LaunchSpec launch_of(const std::string& entry, std::int32_t n) {
  cudaopt::LaunchSpec spec;
  spec.module = "m";
  spec.entry = entry;
  spec.block = {32, 1, 1};
  cudaopt::Argument x, y, count;
  x.kind = y.kind = cudaopt::Argument::Kind::buffer;
  x.buffer = "x";
  y.buffer = "y";
  count.kind = cudaopt::Argument::Kind::scalar;
  count.dtype = "i32";
  count.bytes.resize(4);
  std::memcpy(count.bytes.data(), &n, 4);
  spec.arguments = {x, y, count};
  return spec;
}

// The fault that `body` ends in.
template <class Body>
cudaopt::FaultDetail fault_of(Body body) {
  try {
    body();
  } catch (const cudaopt::Fault& fault) {
    return fault.detail();
  }
  throw check::Failure("no fault");
}

inline bool says(const cudaopt::FaultDetail& fault, const std::string& words) {
  return fault.message.find(words) != std::string::npos;
}

}  // namespace made_up_gpu
