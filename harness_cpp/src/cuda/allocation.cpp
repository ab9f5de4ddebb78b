#include "cuda/allocation.hpp"

#include <algorithm>
#include <utility>

namespace cudaopt::cuda {
namespace {

constexpr Result kOutOfMemory = 2;
constexpr int kReadOnly = 1, kReadWrite = 3;  // CUmemAccess_flags
constexpr int kMinimumGranularity = 0;        // CU_MEM_ALLOC_GRANULARITY_MINIMUM

void check_room(const Context& context, Result result, std::uint64_t bytes,
                const std::string& what) {
  if (result != kOutOfMemory) {
    context.driver().check_own_work(result, "memory for " + what);
    return;
  }
  std::size_t free = 0, total = 0;
  CUDAOPT_CUDA(context.driver(), memory_get_info, &free, &total);
  throw Fault(FaultKind::out_of_memory,
              what + " needs " + std::to_string(bytes) + " bytes of GPU memory, " +
                  std::to_string(free) + " of " + std::to_string(total) +
                  " are free. Use a smaller case or a GPU with more memory.");
}

// `allocate` tries once.
template <class Allocate>
void allocate_with_room(const Context& context, std::uint64_t bytes, const std::string& what,
                        const Allocate& allocate) {
  Result result = allocate();
  if (result == kOutOfMemory && context.make_room()) result = allocate();
  check_room(context, result, bytes, what);
}

class PlainAllocation final : public Allocation {
 public:
  PlainAllocation(const Context& context, std::uint64_t bytes, const std::string& what)
      : m_context(context), m_bytes(std::max<std::uint64_t>(1, bytes)) {
    allocate_with_room(context, m_bytes, what,
                       [&] { return context.driver()->memory_allocate(&m_base, m_bytes); });
  }
  ~PlainAllocation() override { m_context.driver()->memory_free(m_base); }

  [[nodiscard]] DevicePointer base() const override { return m_base; }
  [[nodiscard]] std::uint64_t bytes() const override { return m_bytes; }

 private:
  const Context& m_context;
  std::uint64_t m_bytes;
  DevicePointer m_base = 0;
};

// Address space one page longer at each end than the memory mapped into it.
class GuardedAllocation final : public Allocation {
 public:
  GuardedAllocation(const Context& context, std::uint64_t bytes, const std::string& what)
      : m_context(context) {
    m_properties.location.id = context.ordinal();
    const Driver& driver = context.driver();
    CUDAOPT_CUDA(driver, allocation_granularity, &m_page, &m_properties, kMinimumGranularity);
    m_bytes = (std::max<std::uint64_t>(1, bytes) + m_page - 1) / m_page * m_page;
    AllocationHandle memory = 0;
    allocate_with_room(context, m_bytes, what, [&] {
      return driver->allocation_create(&memory, m_bytes, &m_properties, 0);
    });
    try {
      CUDAOPT_CUDA(driver, address_reserve, &m_reserved, m_bytes + 2 * m_page, 0, 0, 0);
      CUDAOPT_CUDA(driver, memory_map, base(), m_bytes, 0, memory, 0);
      m_mapped = true;
      set_access(kReadWrite);
    } catch (...) {
      driver->allocation_release(memory);
      release();
      throw;
    }
    // The mapping keeps the memory.
    CUDAOPT_CUDA(driver, allocation_release, memory);
  }
  ~GuardedAllocation() override { release(); }

  [[nodiscard]] DevicePointer base() const override { return m_reserved + m_page; }
  [[nodiscard]] std::uint64_t bytes() const override { return m_bytes; }

  void set_read_only(bool read_only) override {
    if (read_only == m_read_only) return;
    // Nothing says that a change of access waits for fills that are queued.
    m_context.synchronize_own_work("fills before a change of access");
    set_access(read_only ? kReadOnly : kReadWrite);
    m_read_only = read_only;
  }

 private:
  void set_access(int flags) {
    AccessDescription access;
    access.location.id = m_context.ordinal();
    access.flags = flags;
    CUDAOPT_CUDA(m_context.driver(), memory_set_access, base(), m_bytes, &access, 1);
  }

  void release() noexcept {
    const Driver& driver = m_context.driver();
    driver->context_synchronize();
    if (m_mapped) driver->memory_unmap(base(), m_bytes);
    if (m_reserved != 0) driver->address_free(m_reserved, m_bytes + 2 * m_page);
  }

  const Context& m_context;
  AllocationProperties m_properties;
  std::size_t m_page = 0;
  std::uint64_t m_bytes = 0;
  DevicePointer m_reserved = 0;
  bool m_mapped = false, m_read_only = false;
};

}  // namespace

std::unique_ptr<Allocation> allocate_plain(const Context& context, std::uint64_t bytes,
                                           const std::string& what) {
  return std::make_unique<PlainAllocation>(context, bytes, what);
}

std::unique_ptr<Allocation> allocate_between_guard_pages(const Context& context,
                                                         std::uint64_t bytes,
                                                         const std::string& what) {
  return std::make_unique<GuardedAllocation>(context, bytes, what);
}

}  // namespace cudaopt::cuda
