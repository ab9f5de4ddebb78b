// A kernel written in PTX on a simulated device, for tests: `k` with its buffers as parameters.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "sim/sim_device.hpp"

namespace sim_test {

using namespace cudaopt;

using Words = std::vector<std::uint32_t>;

inline std::vector<std::uint8_t> to_bytes(const Words& words) {
  std::vector<std::uint8_t> bytes(words.size() * 4);
  if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

inline Words to_words(const std::vector<std::uint8_t>& bytes) {
  Words words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

// `count` words that count up from `first`.
inline Words counting(std::uint32_t count, std::uint32_t first = 0) {
  Words words(count);
  for (std::uint32_t i = 0; i < count; ++i) words[i] = first + i;
  return words;
}

class Kernel {
 public:
  // `variables` stand at module scope. The body finds %tid.x in %t, the block's linear index in
  // %b, and the first buffers' addresses in %x0, %x1, ...; it may use %r, %rd, %f, %h, %p <50>.
  Kernel(std::size_t buffers, const std::string& body, const std::string& variables = "",
         const SimOptions& options = one_thread())
      : Kernel(module_text(buffers, body, variables), options) {}

  explicit Kernel(const std::string& module, const SimOptions& options = one_thread())
      : m_device(make_sim_device(options)) {
    CompiledModule compiled;
    compiled.name = "m";
    compiled.file = "k.cu";
    compiled.ptx = module;
    notes = m_device->load(compiled);
    m_launch.module = "m";
    m_launch.entry = "k";
  }

  static SimOptions one_thread() {
    SimOptions options;
    options.threads = 1;
    return options;
  }

  static std::string module_text(std::size_t buffers, const std::string& body,
                                 const std::string& variables) {
    std::string parameters, loads;
    for (std::size_t i = 0; i < buffers; ++i) {
      const std::string number = std::to_string(i);
      parameters += std::string(i == 0 ? "" : ", ") + ".param .u64 p" + number;
      loads += "ld.param.u64 %x" + number + ", [p" + number + "];\n";
    }
    return ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n" + variables +
           "\n.visible .entry k(" + parameters +
           ")\n{\n.reg .pred %p<50>;\n.reg .b16 %h<50>;\n.reg .b32 %r<50>;\n.reg .f32 %f<50>;\n"
           ".reg .b64 %rd<50>;\n.reg .b64 %x<8>;\n.reg .b32 %t, %b;\n" +
           loads + "mov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\n" + body + "\nret;\n}\n";
  }

  Kernel& buffer(const std::string& name, const Words& words, Access access = Access::read_write) {
    BufferSpec spec;
    spec.name = name;
    spec.bytes = words.size() * 4;
    spec.element_bytes = 4;
    spec.access = access;
    spec.guard_bytes = 64;
    return buffer(spec, to_bytes(words));
  }

  Kernel& buffer(const BufferSpec& spec, const std::vector<std::uint8_t>& bytes) {
    m_device->create_buffer(spec);
    m_device->write(spec.name, bytes);
    return argument(spec.name);
  }

  Kernel& argument(const std::string& buffer) {
    Argument argument;
    argument.kind = Argument::Kind::buffer;
    argument.buffer = buffer;
    m_launch.arguments.push_back(argument);
    return *this;
  }

  template <class T>
  Kernel& scalar(T value, const std::string& dtype) {
    Argument argument;
    argument.kind = Argument::Kind::scalar;
    argument.dtype = dtype;
    argument.bytes.resize(sizeof value);
    std::memcpy(argument.bytes.data(), &value, sizeof value);
    m_launch.arguments.push_back(argument);
    return *this;
  }

  Counters run(std::uint32_t block, std::uint32_t grid = 1, std::uint32_t shared_bytes = 0) {
    return *m_device->launch(spec(block, grid, shared_bytes)).counters;
  }

  // The fault of a launch that must have one.
  FaultDetail fault(std::uint32_t block, std::uint32_t grid = 1, std::uint32_t shared_bytes = 0) {
    try {
      run(block, grid, shared_bytes);
    } catch (const Fault& fault) {
      return fault.detail();
    }
    throw check::Failure("the kernel finished without a fault");
  }

  [[nodiscard]] LaunchSpec spec(std::uint32_t block, std::uint32_t grid,
                                std::uint32_t shared_bytes = 0) const {
    LaunchSpec launch = m_launch;
    launch.block = {block, 1, 1};
    launch.grid = {grid, 1, 1};
    launch.shared_bytes = shared_bytes;
    return launch;
  }

  [[nodiscard]] Words read(const std::string& buffer) { return to_words(m_device->read(buffer)); }
  [[nodiscard]] Device& device() { return *m_device; }

  std::vector<std::string> notes;

 private:
  std::unique_ptr<Device> m_device;
  LaunchSpec m_launch;
};

// Stores register `value` (32 bits) to %x0[tid].
inline std::string store_word(const std::string& value, const std::string& array = "%x0") {
  return "mul.wide.u32 %rd49, %t, 4;\nadd.s64 %rd49, %rd49, " + array +
         ";\nst.global.u32 [%rd49], " + value + ";\n";
}

inline void equal_words(const Words& expected, const Words& got, const char* file, int line) {
  for (std::size_t i = 0; i < expected.size() && i < got.size(); ++i) {
    if (expected[i] == got[i]) continue;
    std::ostringstream message;
    message << file << ":" << line << ": word " << i << ": expected " << expected[i] << ", got "
            << got[i];
    throw check::Failure(message.str());
  }
  check::equal(expected.size(), got.size(), file, line);
}

}  // namespace sim_test

#define CHECK_WORDS(expected, got) sim_test::equal_words((expected), (got), __FILE__, __LINE__)
