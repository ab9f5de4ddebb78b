// Result codes the made-up driver answers, with the numbers and names of CUDA's driver.
#pragma once

#include <cstdint>

namespace made_up {

using Result = int;
using DevicePointer = std::uint64_t;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kAssert = 710,
  kMisaligned = 716,
  kLaunchFailed = 719,
  kCooperativeTooLarge = 720,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
};

}  // namespace made_up
