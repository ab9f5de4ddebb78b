// Kernels of our own, as PTX that the driver translates for the GPU at hand.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "cuda/driver.hpp"

namespace cudaopt::cuda {

class Context;

inline constexpr char kWaitKernel[] = "cudaopt_wait";    // flag*, timeout ns, timed_out*
inline constexpr char kReadKernel[] = "cudaopt_read";    // pointer, 16-byte vectors, sink*
inline constexpr char kClockKernel[] = "cudaopt_clock";  // slot of two u64: clock64, globaltimer ns
inline constexpr char kEmptyKernel[] = "cudaopt_empty";
inline constexpr char kDirtySharedKernel[] = "cudaopt_dirty_shared";  // u32 bytes

// Pointer, lines of 128 bytes. Compute capability 8.0 and above; lines cannot persist below.
inline constexpr char kDemoteKernel[] = "cudaopt_demote";
[[nodiscard]] bool has_demote_kernel(int compute_capability_major);

// One PTX module with all of them that the GPU has.
[[nodiscard]] std::string helper_kernels_ptx(int compute_capability_major);

// Queues a launch of one of them whose parameters are all 64 bits wide.
void enqueue_helper(const Context& context, FunctionHandle helper, unsigned blocks,
                    unsigned threads, std::initializer_list<std::uint64_t> arguments);

}  // namespace cudaopt::cuda
