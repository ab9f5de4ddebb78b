// Launches that need more than a shape: clusters, and grids whose blocks wait for each other.
#pragma once

#include "cuda/driver.hpp"

namespace cudaopt::cuda {

[[nodiscard]] bool has_attributes(const LaunchSpec& spec);

// Queues the launch with the attributes `spec` asks for; the result is the driver's. Throws Fault
// no_device where the driver cannot.
[[nodiscard]] Result launch_with_attributes(const Driver& driver, FunctionHandle function,
                                            const LaunchSpec& spec, StreamHandle stream,
                                            void** parameters);

}  // namespace cudaopt::cuda
