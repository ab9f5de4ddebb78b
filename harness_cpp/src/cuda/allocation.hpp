// Stretches of device memory, owned: plain ones, and ones that end against an unmapped page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cuda/context.hpp"

namespace cudaopt::cuda {

class Allocation {
 public:
  Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  virtual ~Allocation() = default;
  [[nodiscard]] virtual DevicePointer base() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  // Whether a kernel's write faults from now on. Only mapped memory can refuse writes.
  virtual void set_read_only(bool) {}
};

// At least `bytes`, from a multiple of 256 on. Throws Fault out_of_memory that says how much `what`
// needs and how much there is.
[[nodiscard]] std::unique_ptr<Allocation> allocate_plain(const Context& context,
                                                         std::uint64_t bytes,
                                                         const std::string& what);

// Rounded up to whole pages, with unmapped ones on both sides.
[[nodiscard]] std::unique_ptr<Allocation> allocate_between_guard_pages(const Context& context,
                                                                       std::uint64_t bytes,
                                                                       const std::string& what);

}  // namespace cudaopt::cuda
