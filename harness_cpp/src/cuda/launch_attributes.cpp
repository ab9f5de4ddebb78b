#include "cuda/launch_attributes.hpp"

#include <vector>

namespace cudaopt::cuda {
namespace {

std::vector<LaunchAttribute> attributes_of(const LaunchSpec& spec) {
  std::vector<LaunchAttribute> attributes;
  if (spec.cluster) {
    LaunchAttribute& cluster = attributes.emplace_back();
    cluster.id = LaunchAttribute::kClusterDimension;
    cluster.value.cluster[0] = spec.cluster->x;
    cluster.value.cluster[1] = spec.cluster->y;
    cluster.value.cluster[2] = spec.cluster->z;
  }
  if (spec.cooperative) {
    LaunchAttribute& cooperative = attributes.emplace_back();
    cooperative.id = LaunchAttribute::kCooperative;
    cooperative.value.cooperative = 1;
  }
  return attributes;
}

}  // namespace

bool has_attributes(const LaunchSpec& spec) { return spec.cluster || spec.cooperative; }

Result launch_with_attributes(const Driver& driver, FunctionHandle function, const LaunchSpec& spec,
                              StreamHandle stream, void** parameters) {
  if (driver->launch_kernel_with_attributes == nullptr) {
    throw Fault(FaultKind::no_device,
                "launch of '" + spec.entry +
                    "': the CUDA driver has no function cuLaunchKernelEx, which clusters and "
                    "cooperative launches need. Install a newer driver.");
  }
  const Dim3 &grid = spec.grid, &block = spec.block;
  std::vector<LaunchAttribute> attributes = attributes_of(spec);
  const LaunchConfig config{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
                            spec.shared_bytes,        stream,
                            attributes.data(),        static_cast<unsigned>(attributes.size())};
  return driver->launch_kernel_with_attributes(&config, function, parameters, nullptr);
}

}  // namespace cudaopt::cuda
