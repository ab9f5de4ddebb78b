// The virtual memory functions: address space, memory, and which lies where, with the names libcuda
// exports.
#include <cstddef>
#include <map>

#include "gpu.hpp"
#include "memory.hpp"
#include "settings.hpp"

using namespace made_up;

namespace {

constexpr int kReadOnly = 1, kReadWrite = 3;

// CUmemAllocationProp and CUmemAccessDesc, as far as they are looked at.
struct AllocationProperties {
  int type, handle_types, location_type, location_id;
};
struct AccessDescription {
  int location_type, location_id, flags;
};

struct Physical {
  std::uint64_t bytes = 0;
  bool mapped = false, released = false;
};

std::map<unsigned long long, Physical>& physical() {
  static std::map<unsigned long long, Physical> all;
  return all;
}
std::map<DevicePointer, std::uint64_t>& reservations() {
  static std::map<DevicePointer, std::uint64_t> all;
  return all;
}
std::map<DevicePointer, unsigned long long>& mappings() {
  static std::map<DevicePointer, unsigned long long> all;
  return all;
}

bool is_whole(std::uint64_t bytes) { return bytes != 0 && bytes % kPageBytes == 0; }

// Memory lives as long as its handle or its mapping does.
void forget_if_unused(unsigned long long handle) {
  const Physical& memory = physical().at(handle);
  if (memory.mapped || !memory.released) return;
  give_back(memory.bytes);
  physical().erase(handle);
}

bool is_reserved(DevicePointer at, std::uint64_t bytes) {
  auto after = reservations().upper_bound(at);
  if (after == reservations().begin()) return false;
  const auto& [base, reserved] = *--after;
  return at + bytes <= base + reserved;
}

Result ready() {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  return settings().guard_pages ? kSuccess : kNotSupported;
}

}  // namespace

extern "C" {

Result cuMemGetAllocationGranularity(std::size_t* bytes, const AllocationProperties*, int) {
  if (const Result result = ready(); result != kSuccess) return result;
  *bytes = kPageBytes;
  return kSuccess;
}

Result cuMemAddressReserve(DevicePointer* pointer, std::size_t bytes, std::size_t, DevicePointer,
                           unsigned long long flags) {
  if (const Result result = ready(); result != kSuccess) return result;
  if (!is_whole(bytes) || flags != 0) return kInvalidValue;
  *pointer = reserve(bytes);
  if (*pointer == 0) return kOutOfMemory;
  reservations()[*pointer] = bytes;
  ++open_handles();
  return kSuccess;
}

Result cuMemAddressFree(DevicePointer pointer, std::size_t bytes) {
  if (const Result result = ready(); result != kSuccess) return result;
  const auto found = reservations().find(pointer);
  if (found == reservations().end() || found->second != bytes) return kInvalidValue;
  const auto mapped = mappings().lower_bound(pointer);
  if (mapped != mappings().end() && mapped->first < pointer + bytes) return kInvalidValue;
  unreserve(pointer, bytes);
  reservations().erase(found);
  --open_handles();
  return kSuccess;
}

Result cuMemCreate(unsigned long long* handle, std::size_t bytes,
                   const AllocationProperties* properties, unsigned long long flags) {
  if (const Result result = ready(); result != kSuccess) return result;
  const bool understood = properties->type == 1 && properties->location_type == 1 && flags == 0;
  if (!is_whole(bytes) || !understood || properties->location_id != current_gpu()->ordinal)
    return kInvalidValue;
  if (!take(bytes)) return kOutOfMemory;
  static unsigned long long next = 1;
  *handle = next++;
  physical()[*handle].bytes = bytes;
  return kSuccess;
}

Result cuMemRelease(unsigned long long handle) {
  if (const Result result = ready(); result != kSuccess) return result;
  const auto found = physical().find(handle);
  if (found == physical().end() || found->second.released) return kInvalidValue;
  found->second.released = true;
  forget_if_unused(handle);
  return kSuccess;
}

Result cuMemMap(DevicePointer at, std::size_t bytes, std::size_t offset, unsigned long long handle,
                unsigned long long flags) {
  if (const Result result = ready(); result != kSuccess) return result;
  const auto found = physical().find(handle);
  if (found == physical().end() || found->second.released) return kInvalidValue;
  if (offset != 0 || flags != 0 || bytes != found->second.bytes) return kInvalidValue;
  if (!is_reserved(at, bytes) || at % kPageBytes != 0 || found->second.mapped) return kInvalidValue;
  back(at, bytes);
  found->second.mapped = true;
  mappings()[at] = handle;
  addresses().add(at, {bytes, false, false});
  return kSuccess;
}

// Nothing says that it waits for work of before, so it does not: work that still uses the memory
// faults.
Result cuMemUnmap(DevicePointer at, std::size_t bytes) {
  if (const Result result = ready(); result != kSuccess) return result;
  const auto found = mappings().find(at);
  if (found == mappings().end() || physical().at(found->second).bytes != bytes)
    return kInvalidValue;
  const unsigned long long handle = found->second;
  unback(at, bytes);
  addresses().remove(at);
  mappings().erase(found);
  physical().at(handle).mapped = false;
  forget_if_unused(handle);
  return kSuccess;
}

// In force at once, also for work queued before.
Result cuMemSetAccess(DevicePointer at, std::size_t bytes, const AccessDescription* access,
                      std::size_t count) {
  if (const Result result = ready(); result != kSuccess) return result;
  Region* region = addresses().find(at);
  if (region == nullptr || region->bytes != bytes || count != 1) return kInvalidValue;
  if (access->location_type != 1 || access->location_id != current_gpu()->ordinal)
    return kInvalidValue;
  if (access->flags != kReadOnly && access->flags != kReadWrite) return kInvalidValue;
  region->readable = true;
  region->writable = access->flags == kReadWrite;
  return kSuccess;
}

}  // extern "C"
