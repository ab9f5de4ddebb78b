// A GPU as a device for one request.
#pragma once

#include <memory>

#include "cuda/context.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// `description` is how answers call it: "cuda:0 (NVIDIA H200)". The context outlives the device.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(const Context& context,
                                                       std::string description);

}  // namespace cudaopt::cuda
