// Devices, contexts and the words for results, with the names libcuda exports.
#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include "clock.hpp"
#include "gpu.hpp"
#include "queue.hpp"
#include "settings.hpp"

using namespace made_up;

namespace {

struct Words {
  const char *name, *text;
};

const std::map<Result, Words>& all_words() {
  static const std::map<Result, Words> words = {
      {kSuccess, {"CUDA_SUCCESS", "no error"}},
      {kInvalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
      {kOutOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
      {kNotInitialized, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
      {kNoDevice, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
      {kInvalidDevice, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
      {kInvalidImage, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
      {kInvalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
      {kNoBinaryForGpu, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available"}},
      {kInvalidHandle, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
      {kNotFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
      {kNotReady, {"CUDA_ERROR_NOT_READY", "device not ready"}},
      {kIllegalAddress, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
      {kOutOfResources, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested"}},
      {kAssert, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
      {kMisaligned, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
      {kLaunchFailed, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
      {kCooperativeTooLarge,
       {"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"}},
      {kNotSupported, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
      {kCaptureUnsupported, {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not while capturing"}}};
  return words;
}

// CUdevice_attribute, as an H200 answers.
std::map<int, int> attributes() {
  return {{1, 1024},
          {2, 1024},
          {3, 1024},
          {4, 64},
          {5, 2147483647},
          {6, 65535},
          {7, 65535},
          {8, 49152},
          {9, 65536},
          {10, 32},
          {12, 65536},
          {13, 1980000},
          {16, 132},
          {17, 0},
          {19, 1},
          {20, 0},
          {31, 1},
          {32, 1},
          {36, 3201000},
          {37, 6016},
          {38, static_cast<int>(settings().l2_bytes)},
          {39, 2048},
          {41, 1},
          {75, settings().capability / 10},
          {76, settings().capability % 10},
          {81, 233472},
          {82, 65536},
          {95, 1},
          {97, 232448},
          {102, settings().guard_pages ? 1 : 0},
          {106, 32},
          {108, 31457280},
          {111, 1024},
          {120, settings().capability >= 90 ? 1 : 0}};
}

bool is_device(int ordinal) { return ordinal >= 0 && ordinal < static_cast<int>(gpus().size()); }

Result answer_words(Result result, const char** into, const char* Words::* member) {
  const auto found = all_words().find(result);
  *into = found == all_words().end() ? nullptr : found->second.*member;
  return found == all_words().end() ? kInvalidValue : kSuccess;
}

}  // namespace

extern "C" {

Result cuGetErrorName(Result result, const char** into) {
  return answer_words(result, into, &Words::name);
}

Result cuGetErrorString(Result result, const char** into) {
  return answer_words(result, into, &Words::text);
}

Result cuInit(unsigned) {
  if (settings().init != kSuccess) return settings().init;
  if (settings().gpus == 0) return kNoDevice;
  initialised() = true;
  return kSuccess;
}

Result cuDriverGetVersion(int* version) {
  *version = settings().driver;
  return kSuccess;
}

Result cuDeviceGetCount(int* count) {
  if (!initialised()) return kNotInitialized;
  *count = static_cast<int>(gpus().size());
  return kSuccess;
}

Result cuDeviceGet(int* device, int ordinal) {
  if (!initialised()) return kNotInitialized;
  if (!is_device(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Result cuDeviceGetName(char* name, int bytes, int device) {
  if (!is_device(device)) return kInvalidDevice;
  std::strncpy(name, "Made-Up GPU", static_cast<std::size_t>(bytes));
  return kSuccess;
}

// Sixteen bytes: 0, 1, ... 14 and the ordinal.
Result cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  if (!is_device(device)) return kInvalidDevice;
  for (int i = 0; i < 15; ++i) uuid[i] = static_cast<unsigned char>(i);
  uuid[15] = static_cast<unsigned char>(device);
  return kSuccess;
}

Result cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!is_device(device)) return kInvalidDevice;
  const std::map<int, int> all = attributes();
  const auto found = all.find(attribute);
  if (found == all.end()) return kInvalidValue;
  *value = found->second;
  return kSuccess;
}

Result cuDevicePrimaryCtxRetain(Gpu** context, int device) {
  if (!initialised()) return kNotInitialized;
  if (!is_device(device)) return kInvalidDevice;
  *context = &gpus()[static_cast<std::size_t>(device)];
  ++open_handles();
  return (*context)->sticky;
}

Result cuDevicePrimaryCtxRelease_v2(int device) {
  if (!is_device(device)) return kInvalidDevice;
  --open_handles();
  log("release of the context: " + std::to_string(open_handles()) + " handles open, " +
      std::to_string(gpus()[static_cast<std::size_t>(device)].used_bytes) + " bytes in use");
  return kSuccess;
}

Result cuCtxSetCurrent(Gpu* context) {
  if (!initialised()) return kNotInitialized;
  current_gpu() = context;
  return context == nullptr ? kSuccess : context->sticky;
}

Result cuCtxSynchronize() {
  MADE_UP_READY_OUTSIDE_CAPTURE();
  return drain_all();
}

// The rest is not CUDA's. What a test asks for leaks:
int made_up_open_handles() { return open_handles(); }

// A library stays in its process: makes it as if just opened, in the environment of now.
void made_up_reset() {
  destroy_all_streams();
  read_settings_again();
  forget_everything();
  gpu_clock() = Clock();
}

}  // extern "C"
