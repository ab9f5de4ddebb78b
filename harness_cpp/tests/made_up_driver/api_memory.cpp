// Plain memory, copies and fills, with the names libcuda exports.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "clock.hpp"
#include "gpu.hpp"
#include "memory.hpp"
#include "queue.hpp"
#include "settings.hpp"

using namespace made_up;

namespace {

constexpr std::uint64_t kTransferNs = 1500;

// A fill or copy on the device, done when its turn comes.
template <class Body>
Result enqueue_transfer(Stream* stream, const char* what, DevicePointer to, std::size_t bytes,
                        Body body) {
  MADE_UP_READY();
  return enqueue(stream, [=] {
    if (!addresses().may_write(to, bytes)) return Result{kIllegalAddress};
    gpu_clock().advance(kTransferNs);
    log(std::string(what) + " of " + std::to_string(bytes) + " bytes at " + std::to_string(to));
    return body();
  });
}

template <class Value>
Result enqueue_fill(DevicePointer to, Value value, std::size_t count, Stream* stream) {
  if (to % sizeof(Value) != 0) return kInvalidValue;
  return enqueue_transfer(stream, "fill", to, count * sizeof(Value), [=] {
    std::fill_n(host_pointer<Value>(to), count, value);
    return Result{kSuccess};
  });
}

}  // namespace

extern "C" {

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  MADE_UP_READY();
  *total = settings().memory_bytes;
  *free = *total - current_gpu()->used_bytes;
  return kSuccess;
}

// Whole pages are usable, so that an overrun within the last one is not noticed, as on a GPU.
Result cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  if (bytes == 0) return kInvalidValue;
  const std::uint64_t whole = in_whole_pages(bytes);
  if (whole < bytes || !take(whole)) return kOutOfMemory;
  *pointer = reserve(whole);
  if (*pointer == 0) return kOutOfMemory;
  back(*pointer, whole);
  addresses().add(*pointer, {whole});
  return kSuccess;
}

Result cuMemFree_v2(DevicePointer pointer) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  const Region* region = addresses().find(pointer);
  if (region == nullptr) return kInvalidValue;
  if (const Result result = drain_all(); result != kSuccess) return result;
  give_back(region->bytes);
  unreserve(pointer, region->bytes);
  addresses().remove(pointer);
  return kSuccess;
}

Result cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  *pointer = std::calloc(bytes, 1);
  addresses().add(reinterpret_cast<DevicePointer>(*pointer), {bytes});
  ++open_handles();
  return kSuccess;
}

Result cuMemFreeHost(void* pointer) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  const auto base = reinterpret_cast<DevicePointer>(pointer);
  if (!addresses().holds(base)) return kInvalidValue;
  addresses().remove(base);
  std::free(pointer);
  --open_handles();
  return kSuccess;
}

Result cuMemHostGetDevicePointer_v2(DevicePointer* device, void* host, unsigned flags) {
  MADE_UP_READY();
  *device = reinterpret_cast<DevicePointer>(host);
  return flags == 0 && addresses().holds(*device) ? kSuccess : kInvalidValue;
}

Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  if (const Result result = drain_for_null_stream(); result != kSuccess) return result;
  if (!addresses().may_write(to, bytes)) return kInvalidValue;
  std::memcpy(host_pointer(to), from, bytes);
  return kSuccess;
}

Result cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  if (const Result result = drain_for_null_stream(); result != kSuccess) return result;
  if (!addresses().may_read(from, bytes)) return kInvalidValue;
  std::memcpy(to, host_pointer(from), bytes);
  return kSuccess;
}

Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes,
                            Stream* stream) {
  return enqueue_transfer(stream, "copy", to, bytes, [=] {
    if (!addresses().may_read(from, bytes)) return Result{kIllegalAddress};
    std::memmove(host_pointer(to), host_pointer(from), bytes);
    return Result{kSuccess};
  });
}

Result cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, Stream* stream) {
  return enqueue_fill(to, value, count, stream);
}

Result cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, Stream* stream) {
  return enqueue_fill(to, value, count, stream);
}

Result cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, Stream* stream) {
  return enqueue_fill(to, value, count, stream);
}

}  // extern "C"
