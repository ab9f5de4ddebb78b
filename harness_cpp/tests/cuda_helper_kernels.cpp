// Our own kernels without a GPU: their PTX is what is launched, and the simulator runs those that
// need neither clocks nor the host.
#include <cstring>
#include <map>

#include "check.hpp"
#include "cuda/helper_kernels.hpp"
#include "ptx/parser.hpp"
#include "sim/sim_device.hpp"

using namespace cudaopt;

namespace {

std::unique_ptr<Device> device_with_helpers() {
  auto device = make_sim_device({});
  CompiledModule module;
  module.name = "helpers";
  module.ptx = cuda::helper_kernels_ptx(7);
  device->load(module);
  return device;
}

void create(Device& device, const char* name, const std::vector<std::uint32_t>& words,
            Access access) {
  BufferSpec spec;
  spec.name = name;
  spec.bytes = words.size() * 4;
  spec.access = access;
  spec.guard_bytes = 64;
  device.create_buffer(spec);
  std::vector<std::uint8_t> bytes(spec.bytes);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  device.write(name, bytes);
}

Argument buffer(const char* name) {
  Argument argument;
  argument.kind = Argument::Kind::buffer;
  argument.buffer = name;
  return argument;
}

template <class T>
Argument scalar(const char* dtype, T value) {
  Argument argument;
  argument.kind = Argument::Kind::scalar;
  argument.dtype = dtype;
  argument.bytes.resize(sizeof value);
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

LaunchSpec launch_of(const char* entry, std::uint32_t blocks, std::uint32_t threads,
                     std::vector<Argument> arguments) {
  LaunchSpec spec;
  spec.module = "helpers";
  spec.entry = entry;
  spec.grid = {blocks, 1, 1};
  spec.block = {threads, 1, 1};
  spec.arguments = std::move(arguments);
  return spec;
}

// What cudaopt_read leaves in its sink, and how many sectors it loads.
struct Read {
  std::uint32_t sink = 0;
  std::uint64_t sectors = 0;
};

Read read(const std::vector<std::uint32_t>& words) {
  const auto device = device_with_helpers();
  create(*device, "words", words, Access::read);
  create(*device, "sink", {7}, Access::read_write);
  const std::uint64_t vectors = words.size() / 4;
  const LaunchReport report = device->launch(launch_of(
      cuda::kReadKernel, 3, 64, {buffer("words"), scalar("u64", vectors), buffer("sink")}));
  Read result;
  std::memcpy(&result.sink, device->read("sink").data(), sizeof result.sink);
  result.sectors = report.counters.value().global_load_sectors;
  return result;
}

using Parameters = std::map<std::string, std::vector<std::string>>;

Parameters parameters_of(const std::string& text) {
  Parameters types;
  const ptx::Module module = ptx::parse(text);
  for (const ptx::Function& function : module.functions) {
    CHECK(function.entry);
    std::vector<std::string>& of_one = types[function.name];
    for (const ptx::Parameter& parameter : function.parameters) of_one.push_back(parameter.type);
  }
  return types;
}

}  // namespace

TEST("the helper PTX has the kernels that are launched, with their parameters") {
  Parameters expected = {
      {cuda::kWaitKernel, {"u64", "u64", "u64"}},
      {cuda::kReadKernel, {"u64", "u64", "u64"}},
      {cuda::kClockKernel, {"u64"}},
      {cuda::kEmptyKernel, {}},
      {cuda::kDirtySharedKernel, {"u32"}},
  };
  CHECK(parameters_of(cuda::helper_kernels_ptx(7)) == expected);
  expected[cuda::kDemoteKernel] = {"u64", "u64"};
  CHECK(parameters_of(cuda::helper_kernels_ptx(9)) == expected);
}

TEST("the reading kernel loads every sector once, and keeps what it reads to itself") {
  const Read zeros = read(std::vector<std::uint32_t>(4 * 1001));
  CHECK_EQUAL(std::uint64_t{(16 * 1001 + 31) / 32}, zeros.sectors);
  CHECK_EQUAL(7u, zeros.sink);
}

TEST("the reading kernel does use what it reads, up to the last word") {
  std::vector<std::uint32_t> words(4 * 1001);
  words.back() = 0x5eed1e55;
  CHECK_EQUAL(0x5eed1e55u, read(words).sink);
}

TEST("shared memory is filled to the last whole word") {
  const auto device = device_with_helpers();
  LaunchSpec spec =
      launch_of(cuda::kDirtySharedKernel, 1, 64, {scalar("u32", std::uint32_t{1031})});
  spec.shared_bytes = 1031;
  // 257 words by warps of 32.
  CHECK_EQUAL(std::uint64_t{9}, device->launch(spec).counters.value().shared_requests);
}
