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
#include "variables.hpp"

using namespace made_up;

struct Module {
  std::string image;
  Gpu* gpu = nullptr;
  std::map<std::string, std::shared_ptr<Function>> functions;
  Variables variables{};
};

namespace {

constexpr int kStaticShared = 1, kMaxThreads = 0, kRegisters = 4, kMaxDynamicShared = 8;
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
  return some && few &&
         launch.shared_bytes <= static_cast<unsigned>(launch.function->dynamic_shared_bytes);
}

// The driver keeps the values of the arguments, not their addresses.
void take_values(Launch& launch, void** parameters) {
  const auto bytes = parameter_bytes(launch.function->name);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // Of a struct, one value for each 8 bytes.
    for (std::uint64_t at = 0; at < bytes[i]; at += 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, static_cast<const char*>(parameters[i]) + at,
                  std::min<std::uint64_t>(8, bytes[i] - at));
      launch.values.push_back(value);
    }
  }
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
  *module = new Module{text, current_gpu(), {}, make_variables(text)};
  ++open_handles();
  return kSuccess;
}

Result cuModuleUnload(Module* module) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  if (module->gpu != current_gpu()) return kInvalidContext;
  if (const Result result = drain_all(); result != kSuccess) return result;
  log("unload of a module");
  remove_variables(module->variables);
  delete module;
  --open_handles();
  return kSuccess;
}

Result cuModuleGetFunction(Function** function, Module* module, const char* name) {
  MADE_UP_READY();
  if (!contains(module->image, name)) return kNotFound;
  std::shared_ptr<Function>& known = module->functions[name];
  if (!known) known = std::make_shared<Function>(name);
  known->variables = &module->variables;
  *function = known.get();
  return kSuccess;
}

Result cuModuleGetGlobal_v2(DevicePointer* pointer, std::size_t* bytes, Module* module,
                            const char* name) {
  MADE_UP_READY();
  const auto found = module->variables.find(name);
  if (found == module->variables.end()) return kNotFound;
  *pointer = found->second.pointer;
  *bytes = found->second.bytes;
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
  // The module may be gone when the launch's turn comes; unloading waits for that.
  launch.function = std::shared_ptr<Function>(std::shared_ptr<Function>(), function);
  launch.grid = {gx, gy, gz};
  launch.block = {bx, by, bz};
  launch.shared_bytes = shared_bytes;
  if (extra != nullptr || !fits(launch)) return kInvalidValue;
  if (const Result refused = refusal(function->name); refused != kSuccess) return refused;
  if (waits_for_gpu(*function)) {
    if (const Result result = drain_all(); result != kSuccess) return result;
  }
  take_values(launch, parameters);
  return enqueue(stream, [launch] { return carry_out(launch); });
}

}  // extern "C"
