// A GPU as a device for one request.
#pragma once

#include <memory>

#include "cuda/context.hpp"
#include "cuda/file_cache.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// `description` is how answers call it: "cuda:0 (NVIDIA H200)". Context and files
// outlive the device.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(const Context& context, FileCache& files,
                                                       std::string description);

}  // namespace cudaopt::cuda
