#include "cuda/dirty_shared.hpp"

#include "cuda/helper_kernels.hpp"

namespace cudaopt::cuda {
namespace {

constexpr int kMaxDynamicSharedBytes = 8;  // CUfunction_attribute
constexpr unsigned kThreads = 1024;

}  // namespace

// A block takes all a block may have, so each multiprocessor runs one at a time; twice their
// number, since nothing says that the first ones spread over all of them.
void dirty_shared_memory(const Context& context) {
  const Driver& driver = context.driver();
  const FunctionHandle function = context.helper(kDirtySharedKernel);
  const DeviceLimits& limits = context.facts();
  std::uint32_t bytes = limits.max_shared_bytes;
  CUDAOPT_CUDA(driver, function_set_attribute, function, kMaxDynamicSharedBytes,
               static_cast<int>(bytes));
  void* parameters[] = {&bytes};
  CUDAOPT_CUDA(driver, launch_kernel, function, 2 * limits.multiprocessors, 1, 1, kThreads, 1, 1,
               bytes, context.stream(), parameters, nullptr);
}

}  // namespace cudaopt::cuda
