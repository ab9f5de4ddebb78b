// The CUDA driver, opened at run time: building needs no CUDA, and a machine without a GPU gets a
// clear fault. Declared as NVIDIA documents the driver API; only what is called is here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "device.hpp"

namespace cudaopt::cuda {

using Result = int;  // CUresult; 0: success
using DeviceOrdinal = int;
using DevicePointer = std::uint64_t;
using ContextHandle = struct ContextTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using GraphHandle = struct GraphTag*;
using GraphExecHandle = struct GraphExecTag*;
using AllocationHandle = unsigned long long;

struct Uuid {
  unsigned char bytes[16];
};

struct MemoryLocation {
  int type = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
  int id = 0;
};

// CUmemAllocationProp.
struct AllocationProperties {
  int type = 1;  // CU_MEM_ALLOCATION_TYPE_PINNED
  int requested_handle_types = 0;
  MemoryLocation location;
  void* win32_handle_metadata = nullptr;
  struct {
    unsigned char compression_type = 0;
    unsigned char gpu_direct_rdma_capable = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
  } flags;
};

// CUmemAccessDesc.
struct AccessDescription {
  MemoryLocation location;
  int flags = 3;  // CU_MEM_ACCESS_FLAGS_PROT_READWRITE; 1: read only
};

// CUlaunchAttribute, of the two ids that are used here.
struct alignas(8) LaunchAttribute {
  static constexpr int kCooperative = 2, kClusterDimension = 4;
  int id = 0;
  unsigned reserved = 0;
  union {
    char bytes[64] = {};
    unsigned cluster[3];
    int cooperative;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

struct DriverFunctions {
  Result (*get_error_name)(Result, const char**);
  Result (*get_error_string)(Result, const char**);
  Result (*init)(unsigned flags);
  Result (*driver_get_version)(int*);
  Result (*device_get_count)(int*);
  Result (*device_get)(DeviceOrdinal*, int index);
  Result (*device_get_name)(char*, int bytes, DeviceOrdinal);
  Result (*device_get_uuid)(Uuid*, DeviceOrdinal);
  Result (*device_get_attribute)(int*, int attribute, DeviceOrdinal);
  Result (*primary_context_retain)(ContextHandle*, DeviceOrdinal);
  Result (*primary_context_release)(DeviceOrdinal);
  Result (*context_set_current)(ContextHandle);
  Result (*context_synchronize)();
  Result (*module_load_data)(ModuleHandle*, const void* image);
  Result (*module_unload)(ModuleHandle);
  Result (*module_get_function)(FunctionHandle*, ModuleHandle, const char*);
  Result (*module_get_global)(DevicePointer*, std::size_t* bytes, ModuleHandle, const char*);
  Result (*function_get_attribute)(int*, int attribute, FunctionHandle);
  Result (*function_set_attribute)(FunctionHandle, int attribute, int);
  // These two are null on drivers before 12.4.
  Result (*function_load)(FunctionHandle);
  Result (*function_get_parameter)(FunctionHandle, std::size_t index, std::size_t* offset,
                                   std::size_t* bytes);
  Result (*memory_get_info)(std::size_t* free, std::size_t* total);
  Result (*memory_allocate)(DevicePointer*, std::size_t);
  Result (*memory_free)(DevicePointer);
  Result (*host_allocate)(void**, std::size_t, unsigned flags);
  Result (*host_free)(void*);
  Result (*host_get_device_pointer)(DevicePointer*, void*, unsigned flags);
  Result (*copy_to_device)(DevicePointer, const void*, std::size_t);
  Result (*copy_to_host)(void*, DevicePointer, std::size_t);
  Result (*copy_on_device_async)(DevicePointer to, DevicePointer from, std::size_t, StreamHandle);
  Result (*set_bytes_async)(DevicePointer, unsigned char, std::size_t count, StreamHandle);
  Result (*set_halves_async)(DevicePointer, unsigned short, std::size_t count, StreamHandle);
  Result (*set_words_async)(DevicePointer, unsigned, std::size_t count, StreamHandle);
  Result (*address_reserve)(DevicePointer*, std::size_t, std::size_t alignment, DevicePointer hint,
                            unsigned long long flags);
  Result (*address_free)(DevicePointer, std::size_t);
  Result (*allocation_create)(AllocationHandle*, std::size_t, const AllocationProperties*,
                              unsigned long long flags);
  Result (*allocation_release)(AllocationHandle);
  Result (*allocation_granularity)(std::size_t*, const AllocationProperties*, int option);
  Result (*memory_map)(DevicePointer, std::size_t, std::size_t offset, AllocationHandle,
                       unsigned long long flags);
  Result (*memory_unmap)(DevicePointer, std::size_t);
  Result (*memory_set_access)(DevicePointer, std::size_t, const AccessDescription*, std::size_t);
  Result (*launch_kernel)(FunctionHandle, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared_bytes, StreamHandle,
                          void** parameters, void** extra);
  // Null on drivers before 11.8.
  Result (*launch_kernel_with_attributes)(const LaunchConfig*, FunctionHandle, void** parameters,
                                          void** extra);
  Result (*occupancy_blocks)(int* blocks_per_multiprocessor, FunctionHandle, int threads,
                             std::size_t dynamic_shared_bytes);
  Result (*stream_create)(StreamHandle*, unsigned flags);
  Result (*stream_destroy)(StreamHandle);
  Result (*stream_synchronize)(StreamHandle);
  Result (*stream_begin_capture)(StreamHandle, int mode);
  Result (*stream_end_capture)(StreamHandle, GraphHandle*);
  Result (*graph_instantiate)(GraphExecHandle*, GraphHandle, unsigned long long flags);
  Result (*graph_launch)(GraphExecHandle, StreamHandle);
  Result (*graph_exec_destroy)(GraphExecHandle);
  Result (*graph_destroy)(GraphHandle);
  Result (*event_create)(EventHandle*, unsigned flags);
  Result (*event_destroy)(EventHandle);
  Result (*event_record)(EventHandle, StreamHandle);
  Result (*event_elapsed_ms)(float*, EventHandle start, EventHandle end);
};

class Driver {
 public:
  // Opens `path`, or libcuda.so.1 if it is empty, and initialises it; a no_device fault says what
  // is wrong and what to do.
  explicit Driver(const std::string& path);

  [[nodiscard]] const DriverFunctions* operator->() const { return &m_functions; }
  // The newest CUDA version it supports: 13000 is 13.0.
  [[nodiscard]] int version() const { return m_version; }

  // Throws the Fault `result` stands for. `what` says what was attempted: "launch of 'softmax'".
  void check(Result result, const std::string& what) const;
  // The same of what only the harness did, for which no kernel of a request is to blame: a Fault
  // no_device, or out_of_memory.
  void check_own_work(Result result, const std::string& what) const;

 private:
  [[nodiscard]] std::string words_of(Result result) const;

  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> m_library;
  DriverFunctions m_functions{};
  int m_version = 0;
};

// CUDAOPT_CUDA(driver, event_record, event, stream): calls, and throws naming the call, which is of
// the harness's own work.
#define CUDAOPT_CUDA(driver, function, ...) \
  (driver).check_own_work((driver)->function(__VA_ARGS__), #function)

}  // namespace cudaopt::cuda
