// A kernel that keeps the stream waiting until the host has queued everything behind it: else the
// time between two events holds the time to submit what is between them.
#pragma once

#include <cstdint>

#include "cuda/context.hpp"

namespace cudaopt::cuda {

class BlockingKernel {
 public:
  explicit BlockingKernel(const Context& context);
  BlockingKernel(const BlockingKernel&) = delete;
  BlockingKernel& operator=(const BlockingKernel&) = delete;
  // Waits for the stream, whose kernel may still look at the flag.
  ~BlockingKernel();

  // Holds back what is queued while it lives.
  class Held {
   public:
    explicit Held(BlockingKernel& kernel) : m_kernel(kernel) { m_kernel.enqueue(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { m_kernel.release(); }

   private:
    BlockingKernel& m_kernel;
  };

  // Whether the last one gave up waiting: submitting needed the GPU to go on. Ask after
  // synchronising.
  [[nodiscard]] bool timed_out() const;

 private:
  void enqueue();
  void release() noexcept;

  // In memory that both the host and the GPU see.
  struct Flags {
    volatile std::uint32_t released;
    volatile std::uint32_t timed_out;
  };

  const Context& m_context;
  FunctionHandle m_kernel = nullptr;
  Flags* m_flags = nullptr;
  DevicePointer m_device_flags = 0;
};

}  // namespace cudaopt::cuda
