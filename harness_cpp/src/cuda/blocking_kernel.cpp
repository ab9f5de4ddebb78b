#include "cuda/blocking_kernel.hpp"

#include <atomic>
#include <cstddef>

#include "cuda/helper_kernels.hpp"

namespace cudaopt::cuda {
namespace {

constexpr unsigned kMapped = 2;  // CU_MEMHOSTALLOC_DEVICEMAP
// Queueing a sample takes the host some 20 us; the rest is for a host that is busy with something
// else. It must stay well below any watchdog.
constexpr std::uint64_t kTimeoutNs = 1'000'000'000;

}  // namespace

BlockingKernel::BlockingKernel(const Context& context)
    : m_context(context), m_kernel(context.helper(kWaitKernel)) {
  const Driver& driver = context.driver();
  void* memory = nullptr;
  CUDAOPT_CUDA(driver, host_allocate, &memory, sizeof(Flags), kMapped);
  m_flags = static_cast<Flags*>(memory);
  release();
  m_flags->timed_out = 0;
  const Result mapped = driver->host_get_device_pointer(&m_device_flags, memory, 0);
  if (mapped != 0) driver->host_free(memory);
  driver.check_own_work(mapped, "host_get_device_pointer");
}

BlockingKernel::~BlockingKernel() {
  release();
  m_context.driver()->stream_synchronize(m_context.stream());
  m_context.driver()->host_free(m_flags);
}

void BlockingKernel::enqueue() {
  m_flags->released = 0;
  m_flags->timed_out = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  enqueue_helper(m_context, m_kernel, 1, 1,
                 {m_device_flags + offsetof(Flags, released), kTimeoutNs,
                  m_device_flags + offsetof(Flags, timed_out)});
}

void BlockingKernel::release() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  m_flags->released = 1;
}

bool BlockingKernel::timed_out() const { return m_flags->timed_out != 0; }

}  // namespace cudaopt::cuda
