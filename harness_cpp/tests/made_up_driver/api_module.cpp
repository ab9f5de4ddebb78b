// Modules and kernels, with the names libcuda exports. An image is whatever bytes a module is
// loaded from: a cubin, PTX, or a text that names the kernels.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "clock.hpp"
#include "gpu.hpp"
#include "kernels.hpp"
#include "queue.hpp"
#include "settings.hpp"

using namespace made_up;

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id;
  unsigned reserved;
  alignas(8) unsigned value[16];
};

struct LaunchConfig {
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct Module {
  std::string image;
  Gpu* gpu = nullptr;
  std::map<std::string, std::shared_ptr<Function>> functions;
};

namespace {

constexpr int kStaticShared = 1, kMaxThreads = 0, kRegisters = 4, kMaxDynamicShared = 8;
constexpr int kClusterMustBeSet = 10, kClusterX = 11, kClusterZ = 13;
constexpr int kCooperative = 2, kClusterDimension = 4;
constexpr int kOptInSharedBytes = 232448;
constexpr unsigned kThreadsPerBlock = 1024;

template <class Field>
Field field_at(const char* image, std::size_t offset) {
  Field field;
  std::memcpy(&field, image + offset, sizeof field);
  return field;
}

// A cubin is an ELF file, whose headers say where its last section ends.
std::size_t elf_bytes(const char* image) {
  const auto headers = field_at<std::uint64_t>(image, 0x28);
  const auto header_bytes = field_at<std::uint16_t>(image, 0x3a);
  const auto count = field_at<std::uint16_t>(image, 0x3c);
  std::uint64_t end = headers + std::uint64_t{header_bytes} * count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t header = headers + i * header_bytes;
    constexpr std::uint32_t kNoBits = 8;
    if (field_at<std::uint32_t>(image, header + 4) == kNoBits) continue;
    end = std::max(end, field_at<std::uint64_t>(image, header + 0x18) +
                            field_at<std::uint64_t>(image, header + 0x20));
  }
  return end;
}

std::string image_of(const char* image) {
  return std::memcmp(image,
                     "\x7f"
                     "ELF",
                     4) == 0
             ? std::string(image, elf_bytes(image))
             : image;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::uint64_t noise_ns() {
  static std::uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % static_cast<unsigned>(settings().noise_ticks + 1) * Clock::kTickNs;
}

// One launch to the log: what it was, and with what.
std::string line_of(const Launch& launch) {
  std::string line = "launch " + launch.function->name + " grid=" + std::to_string(launch.grid[0]) +
                     " block=" + std::to_string(launch.block[0]) +
                     " shared=" + std::to_string(launch.shared_bytes);
  if (launch.cluster[0] != 0) {
    line += " cluster=" + std::to_string(launch.cluster[0]) + "x" +
            std::to_string(launch.cluster[1]) + "x" + std::to_string(launch.cluster[2]);
  }
  if (launch.is_cooperative) line += " cooperative";
  for (const std::uint64_t value : launch.values) line += " " + std::to_string(value);
  if (const std::string x0 = first_input(launch); !x0.empty()) line += " x[0]=" + x0;
  return line;
}

Result carry_out(const Launch& launch) {
  log(line_of(launch));
  if (!is_ours(launch.function->name)) gpu_clock().count_launch(settings().throttle_after);
  gpu_clock().advance(duration_ns(launch.function->name) + noise_ns());
  return execute(launch);
}

bool fits(const Launch& launch) {
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  const std::uint64_t threads = std::uint64_t{bx} * by * bz;
  const bool some = gx != 0 && gy != 0 && gz != 0 && threads != 0;
  const bool few = gy <= 65535 && gz <= 65535 && bz <= 64 && threads <= kThreadsPerBlock;
  const auto [cx, cy, cz] = launch.cluster;
  const bool whole = cx == 0 || (gx % cx == 0 && gy % cy == 0 && gz % cz == 0);
  return some && few && whole &&
         launch.shared_bytes <= static_cast<unsigned>(launch.function->dynamic_shared_bytes);
}

// As an H200 with kernels of few registers: by threads, and by shared memory.
int blocks_at_once(int threads, std::size_t shared_bytes) {
  constexpr int kThreads = 2048;
  constexpr std::size_t kSharedBytes = 233472, kReserved = 1024;
  return std::min(kThreads / threads, static_cast<int>(kSharedBytes / (shared_bytes + kReserved)));
}

bool is_too_large(const Launch& launch) {
  constexpr std::uint64_t kMultiprocessors = 132;
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  const auto threads = static_cast<int>(bx * by * bz);
  const auto most = static_cast<std::uint64_t>(blocks_at_once(threads, launch.shared_bytes));
  return launch.is_cooperative && std::uint64_t{gx} * gy * gz > most * kMultiprocessors;
}

// The driver keeps the values of the arguments, not their addresses.
void take_values(Launch& launch, void** parameters) {
  const auto bytes = parameter_bytes(launch.function->name);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters[i], bytes[i]);
    launch.values.push_back(value);
  }
}

Result submit(Launch launch, Function* function, Stream* stream, void** parameters) {
  // The module may be gone when the launch's turn comes; unloading waits for that.
  launch.function = std::shared_ptr<Function>(std::shared_ptr<Function>(), function);
  if (!fits(launch)) return kInvalidValue;
  if (is_too_large(launch)) return kCooperativeTooLarge;
  if (const Result refused = refusal(function->name); refused != kSuccess) return refused;
  if (waits_for_gpu(*function)) {
    if (const Result result = drain_all(); result != kSuccess) return result;
  }
  take_values(launch, parameters);
  return enqueue(stream, [launch] { return carry_out(launch); });
}

}  // namespace

extern "C" {

Result cuModuleLoadData(Module** module, const void* image) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  const std::string text = image_of(static_cast<const char*>(image));
  if (contains(text, "cudaopt_wait") && settings().own_module != kSuccess)
    return settings().own_module;
  if (contains(text, "not an image")) return kInvalidImage;
  if (contains(text, "for another architecture")) return kNoBinaryForGpu;
  *module = new Module{text, current_gpu(), {}};
  ++open_handles();
  return kSuccess;
}

Result cuModuleUnload(Module* module) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  if (module->gpu != current_gpu()) return kInvalidContext;
  if (const Result result = drain_all(); result != kSuccess) return result;
  log("unload of a module");
  delete module;
  --open_handles();
  return kSuccess;
}

Result cuModuleGetFunction(Function** function, Module* module, const char* name) {
  MADE_UP_READY();
  if (!contains(module->image, name)) return kNotFound;
  std::shared_ptr<Function>& known = module->functions[name];
  if (!known) known = std::make_shared<Function>(name);
  *function = known.get();
  return kSuccess;
}

Result cuFuncGetAttribute(int* value, int attribute, Function* function) {
  MADE_UP_READY();
  switch (attribute) {
    case kMaxThreads:
      *value = kThreadsPerBlock;
      return kSuccess;
    case kRegisters:
      *value = 32;
      return kSuccess;
    case kMaxDynamicShared:
      *value = function->dynamic_shared_bytes;
      return kSuccess;
    case kClusterMustBeSet:
      *value = cluster_of(function->name) != 0;
      return kSuccess;
    case kClusterX:
    case kClusterX + 1:
    case kClusterZ:
      *value = cluster_of(function->name) == 0 ? 0
               : attribute == kClusterX        ? cluster_of(function->name)
                                               : 1;
      return kSuccess;
    default:
      *value = 0;
      return attribute >= kStaticShared ? kSuccess : kInvalidValue;
  }
}

Result cuFuncSetAttribute(Function* function, int attribute, int value) {
  MADE_UP_READY();
  if (attribute != kMaxDynamicShared || value > kOptInSharedBytes) return kInvalidValue;
  function->dynamic_shared_bytes = value;
  return kSuccess;
}

Result cuFuncLoad(Function* function) {
  MADE_UP_READY();
  function->is_loaded = true;
  return kSuccess;
}

Result cuFuncGetParamInfo(Function* function, std::size_t index, std::size_t* offset,
                          std::size_t* bytes) {
  MADE_UP_READY();
  const auto all = parameter_bytes(function->name);
  if (index >= all.size()) return kInvalidValue;
  std::size_t before = 0;
  for (std::size_t i = 0; i < index; ++i) before += all[i];
  *offset = before;
  if (bytes != nullptr) *bytes = all[index];
  return kSuccess;
}

Result cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared_bytes, Stream* stream,
                      void** parameters, void** extra) {
  MADE_UP_READY();
  Launch launch;
  launch.grid = {gx, gy, gz};
  launch.block = {bx, by, bz};
  launch.shared_bytes = shared_bytes;
  return extra != nullptr ? Result{kInvalidValue} : submit(launch, function, stream, parameters);
}

Result cuLaunchKernelEx(const LaunchConfig* config, Function* function, void** parameters,
                        void** extra) {
  MADE_UP_READY();
  Launch launch;
  launch.grid = config->grid;
  launch.block = config->block;
  launch.shared_bytes = config->shared_bytes;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kClusterDimension) {
      std::copy_n(attribute.value, 3, launch.cluster.begin());
    } else if (attribute.id == kCooperative) {
      launch.is_cooperative = attribute.value[0] != 0;
    } else {
      return kInvalidValue;
    }
  }
  return extra != nullptr ? Result{kInvalidValue}
                          : submit(launch, function, config->stream, parameters);
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int threads,
                                                   std::size_t shared_bytes) {
  MADE_UP_READY();
  if (shared_bytes > static_cast<std::size_t>(function->dynamic_shared_bytes)) return kInvalidValue;
  *blocks = blocks_at_once(threads, shared_bytes);
  return kSuccess;
}

}  // extern "C"
