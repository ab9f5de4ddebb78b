// Thousands of mutants of PTX that NVRTC wrote are parsed, decoded and run: a fault with a message,
// or an end within the budget, never a crash. Meant for the address and undefined-behaviour
// sanitizers; CUDAOPT_FUZZ_ROUNDS says how many mutants there are of each file.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ptx/parser.hpp"
#include "ptx_mutants.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

constexpr std::uint64_t kBlockInstructions = 20000, kBufferBytes = 4096;

int rounds() {
  const char* wanted = std::getenv("CUDAOPT_FUZZ_ROUNDS");
  return wanted == nullptr ? 40 : std::atoi(wanted);
}

struct Original {
  std::string name, text;
};

std::vector<Original> originals() {
  std::vector<Original> found;
  for (const auto& entry : std::filesystem::directory_iterator(CUDAOPT_TEST_PTX)) {
    std::ifstream file(entry.path());
    found.push_back(
        {entry.path().filename().string(), std::string(std::istreambuf_iterator(file), {})});
  }
  std::sort(found.begin(), found.end(),
            [](const Original& a, const Original& b) { return a.name < b.name; });
  return found;
}

Argument argument_for(const ptx::Parameter& parameter) {
  Argument argument;
  if (parameter.bytes == 8) {
    argument.kind = Argument::Kind::buffer;
    argument.buffer = "memory";
    return argument;
  }
  argument.kind = Argument::Kind::scalar;
  argument.dtype = "u32";
  argument.bytes.assign(parameter.bytes, 0);
  if (parameter.bytes != 0) argument.bytes[0] = 40;
  return argument;
}

LaunchSpec launch_of(const ptx::Function& function, int round) {
  LaunchSpec launch;
  launch.module = "m";
  launch.entry = function.name;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  for (const ptx::Parameter& parameter : function.parameters)
    launch.arguments.push_back(argument_for(parameter));
  launch.checks.accesses = round % 2 == 1;
  launch.checks.rounding = round % 4 == 3;
  launch.order.kind = round % 3 == 0 ? Order::Kind::reverse : Order::Kind::forward;
  return launch;
}

std::vector<LaunchSpec> launches_of(const std::string& text, int round) {
  std::vector<LaunchSpec> launches;
  const ptx::Module module = ptx::parse(text);
  for (const ptx::Function& function : module.functions)
    if (function.entry) launches.push_back(launch_of(function, round));
  return launches;
}

std::unique_ptr<Device> device() {
  SimOptions options;
  options.threads = 1;
  options.block_instructions = kBlockInstructions;
  auto made = make_sim_device(options);
  BufferSpec memory;
  memory.name = "memory";
  memory.bytes = kBufferBytes;
  memory.element_bytes = 4;
  memory.access = Access::read_write;
  memory.guard_bytes = 64;
  made->create_buffer(memory);
  return made;
}

struct Outcome {
  int finished = 0, faulted = 0;
};

void run(const std::string& text, int round, Outcome& outcome) {
  CompiledModule module;
  module.name = "m";
  module.file = "k.cu";
  module.ptx = text;
  try {
    const auto sim = device();
    (void)sim->load(module);
    for (const LaunchSpec& launch : launches_of(text, round)) {
      try {
        (void)sim->launch(launch);
        ++outcome.finished;
      } catch (const Fault&) {
        ++outcome.faulted;
      }
    }
  } catch (const Fault&) {
    ++outcome.faulted;
  }
}

}  // namespace

TEST("what NVRTC wrote is parsed, and runs or says why it cannot") {
  Outcome outcome;
  for (const Original& original : originals()) run(original.text, 0, outcome);
  CHECK(outcome.finished >= 12);
}

TEST("mutants of what NVRTC wrote end in a fault or within the budget") {
  Outcome outcome;
  std::uint32_t seed = 0;
  for (const Original& original : originals()) {
    mutants::Mutator mutator(++seed);
    for (int round = 0; round < rounds(); ++round)
      run(mutator.mutant_of(original.text), round, outcome);
  }
  CHECK(outcome.finished > 2 * rounds());
  CHECK(outcome.faulted > 2 * rounds());
}
