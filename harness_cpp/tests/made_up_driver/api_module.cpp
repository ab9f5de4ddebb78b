// Modules and kernels, with the names libcuda exports. An image is whatever bytes a module is
// loaded from: a cubin, PTX, or a text that names the kernels.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>

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
constexpr int kClusterMustBeSet = 10, kClusterX = 11, kClusterZ = 13;
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

}  // extern "C"
