// The function table, and results turned into faults.
#include "cuda/driver.hpp"

#include <dlfcn.h>

#include <utility>

#include "cuda/result.hpp"

namespace cudaopt::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr const char* kNextStep =
    " Install NVIDIA's driver, or use the device \"sim\", which needs no GPU.";

void* open_library(const std::string& path) {
  const std::string name = path.empty() ? kLibrary : path;
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  throw Fault(FaultKind::no_device, "no CUDA driver: " + std::string(dlerror()) + "." + kNextStep);
}

template <class Function>
void resolve_if_there(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}

template <class Function>
void resolve(void* library, const char* symbol, Function& function) {
  resolve_if_there(library, symbol, function);
  if (function == nullptr) {
    throw Fault(FaultKind::no_device, std::string("the CUDA driver has no function ") + symbol +
                                          ": it is older than CUDA 12. Install a newer one, or "
                                          "use the device \"sim\".");
  }
}

void resolve_devices(void* library, DriverFunctions& functions) {
  resolve(library, "cuGetErrorName", functions.get_error_name);
  resolve(library, "cuGetErrorString", functions.get_error_string);
  resolve(library, "cuInit", functions.init);
  resolve(library, "cuDriverGetVersion", functions.driver_get_version);
  resolve(library, "cuDeviceGetCount", functions.device_get_count);
  resolve(library, "cuDeviceGet", functions.device_get);
  resolve(library, "cuDeviceGetName", functions.device_get_name);
  resolve(library, "cuDeviceGetUuid_v2", functions.device_get_uuid);
  resolve(library, "cuDeviceGetAttribute", functions.device_get_attribute);
  resolve(library, "cuDevicePrimaryCtxRetain", functions.primary_context_retain);
  resolve(library, "cuDevicePrimaryCtxRelease_v2", functions.primary_context_release);
  resolve(library, "cuCtxSetCurrent", functions.context_set_current);
  resolve(library, "cuCtxSynchronize", functions.context_synchronize);
}

void resolve_modules(void* library, DriverFunctions& functions) {
  resolve(library, "cuModuleLoadData", functions.module_load_data);
  resolve(library, "cuModuleUnload", functions.module_unload);
  resolve(library, "cuModuleGetFunction", functions.module_get_function);
  resolve(library, "cuModuleGetGlobal_v2", functions.module_get_global);
  resolve(library, "cuFuncGetAttribute", functions.function_get_attribute);
  resolve(library, "cuFuncSetAttribute", functions.function_set_attribute);
  resolve_if_there(library, "cuFuncLoad", functions.function_load);
  resolve_if_there(library, "cuFuncGetParamInfo", functions.function_get_parameter);
  resolve(library, "cuLaunchKernel", functions.launch_kernel);
  resolve_if_there(library, "cuLaunchKernelEx", functions.launch_kernel_with_attributes);
  resolve(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", functions.occupancy_blocks);
}

void resolve_memory(void* library, DriverFunctions& functions) {
  resolve(library, "cuMemGetInfo_v2", functions.memory_get_info);
  resolve(library, "cuMemAlloc_v2", functions.memory_allocate);
  resolve(library, "cuMemFree_v2", functions.memory_free);
  resolve(library, "cuMemHostAlloc", functions.host_allocate);
  resolve(library, "cuMemFreeHost", functions.host_free);
  resolve(library, "cuMemHostGetDevicePointer_v2", functions.host_get_device_pointer);
  resolve(library, "cuMemcpyHtoD_v2", functions.copy_to_device);
  resolve(library, "cuMemcpyDtoH_v2", functions.copy_to_host);
  resolve(library, "cuMemcpyDtoDAsync_v2", functions.copy_on_device_async);
  resolve(library, "cuMemsetD8Async", functions.set_bytes_async);
  resolve(library, "cuMemsetD16Async", functions.set_halves_async);
  resolve(library, "cuMemsetD32Async", functions.set_words_async);
  resolve(library, "cuMemAddressReserve", functions.address_reserve);
  resolve(library, "cuMemAddressFree", functions.address_free);
  resolve(library, "cuMemCreate", functions.allocation_create);
  resolve(library, "cuMemRelease", functions.allocation_release);
  resolve(library, "cuMemGetAllocationGranularity", functions.allocation_granularity);
  resolve(library, "cuMemMap", functions.memory_map);
  resolve(library, "cuMemUnmap", functions.memory_unmap);
  resolve(library, "cuMemSetAccess", functions.memory_set_access);
}

void resolve_streams(void* library, DriverFunctions& functions) {
  resolve(library, "cuStreamCreate", functions.stream_create);
  resolve(library, "cuStreamDestroy_v2", functions.stream_destroy);
  resolve(library, "cuStreamSynchronize", functions.stream_synchronize);
  resolve(library, "cuStreamBeginCapture_v2", functions.stream_begin_capture);
  resolve(library, "cuStreamEndCapture", functions.stream_end_capture);
  resolve(library, "cuGraphInstantiateWithFlags", functions.graph_instantiate);
  resolve(library, "cuGraphLaunch", functions.graph_launch);
  resolve(library, "cuGraphExecDestroy", functions.graph_exec_destroy);
  resolve(library, "cuGraphDestroy", functions.graph_destroy);
  resolve(library, "cuEventCreate", functions.event_create);
  resolve(library, "cuEventDestroy_v2", functions.event_destroy);
  resolve(library, "cuEventRecord", functions.event_record);
  resolve(library, "cuEventElapsedTime", functions.event_elapsed_ms);
}

std::string name_of_result(const DriverFunctions& functions, Result result) {
  const char* name = nullptr;
  functions.get_error_name(result, &name);
  return name != nullptr ? name : "error " + std::to_string(result);
}

}  // namespace

Driver::Driver(const std::string& path) : m_library(open_library(path)) {
  resolve_devices(m_library.get(), m_functions);
  resolve_modules(m_library.get(), m_functions);
  resolve_memory(m_library.get(), m_functions);
  resolve_streams(m_library.get(), m_functions);
  const Result started = m_functions.init(0);
  if (started != 0) {
    const ResultMeaning meaning = meaning_of(started);
    const std::string why = *meaning.explanation != '\0' ? meaning.explanation : words_of(started);
    throw Fault(FaultKind::no_device, "the CUDA driver does not start: " + why + " (" +
                                          name_of_result(m_functions, started) + ")." + kNextStep);
  }
  CUDAOPT_CUDA(*this, driver_get_version, &m_version);
}

void Driver::Close::operator()(void* library) const { dlclose(library); }

void Driver::check(Result result, const std::string& what) const {
  if (result == 0) return;
  const ResultMeaning meaning = meaning_of(result);
  FaultDetail detail;
  detail.kind = meaning.kind;
  detail.ends_process = meaning.ends_process;
  const std::string why = *meaning.explanation != '\0' ? meaning.explanation : words_of(result);
  detail.message = what + ": " + why + " (" + name_of_result(m_functions, result) + ").";
  throw Fault(std::move(detail));
}

void Driver::check_own_work(Result result, const std::string& what) const {
  const ResultMeaning meaning = meaning_of(result);
  if (meaning.kind == FaultKind::out_of_memory || meaning.kind == FaultKind::no_device) {
    return check(result, what);
  }
  if (result == 0) return;
  FaultDetail detail;
  detail.kind = FaultKind::no_device;
  detail.ends_process = meaning.ends_process;
  detail.message = what + ": work of the harness's own failed on the GPU: " + words_of(result) +
                   " (" + name_of_result(m_functions, result) +
                   "). No kernel is to blame; look after the GPU with nvidia-smi.";
  throw Fault(std::move(detail));
}

std::string Driver::words_of(Result result) const {
  const char* words = nullptr;
  m_functions.get_error_string(result, &words);
  return words != nullptr ? words : "unknown to this driver";
}

}  // namespace cudaopt::cuda
