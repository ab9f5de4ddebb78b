#include "cuda/context.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cuda/helper_kernels.hpp"

namespace cudaopt::cuda {
namespace {

// CUdevice_attribute.
constexpr int kMaxThreadsPerBlock = 1, kMaxBlockX = 2, kMaxGridX = 5, kMaxSharedBytes = 8,
              kWarpSize = 10, kClockKhz = 13, kMultiprocessors = 16, kMemoryClockKhz = 36,
              kMemoryBusBits = 37, kL2Bytes = 38, kComputeMajor = 75, kComputeMinor = 76,
              kMaxSharedBytesOptIn = 97, kVirtualMemory = 102, kClusterLaunch = 120;
// CUDA 11.8: before it, the driver does not know the attribute.
constexpr int kFirstWithClusters = 11080;

std::string visible_text() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "" : " (CUDA_VISIBLE_DEVICES=" + std::string(visible) + ")";
}

DeviceOrdinal ordinal_of(const Driver& driver, int index) {
  int count = 0;
  CUDAOPT_CUDA(driver, device_get_count, &count);
  if (index >= count) {
    throw Fault(FaultKind::no_device,
                "cuda:" + std::to_string(index) + ": " + std::to_string(count) +
                    (count == 1 ? " GPU is" : " GPUs are") + " visible" + visible_text() +
                    ". Use a number below " + std::to_string(count) + ", or the device \"sim\".");
  }
  DeviceOrdinal ordinal = 0;
  CUDAOPT_CUDA(driver, device_get, &ordinal, index);
  return ordinal;
}

std::string name_of(const Driver& driver, DeviceOrdinal ordinal) {
  char name[256] = {};
  CUDAOPT_CUDA(driver, device_get_name, name, sizeof name, ordinal);
  return name;
}

std::string uuid_of(const Driver& driver, DeviceOrdinal ordinal) {
  Uuid uuid{};
  CUDAOPT_CUDA(driver, device_get_uuid, &uuid, ordinal);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

}  // namespace

Context::Context(const Driver& driver, int index)
    : m_driver(driver), m_ordinal(ordinal_of(driver, index)) {
  const std::string label = "cuda:" + std::to_string(index);
  driver.check_own_work(driver->primary_context_retain(&m_context, m_ordinal), "opening " + label);
  try {
    make_current();
    const std::string helpers = helper_kernels_ptx(compute_capability_major());
    driver.check_own_work(driver->module_load_data(&m_helpers, helpers.c_str()),
                          "loading our own kernels on " + label);
    CUDAOPT_CUDA(driver, stream_create, &m_stream, 0);
    m_facts = read_facts();
  } catch (...) {
    close();
    throw;
  }
}

Context::~Context() { close(); }

// A context that is lost cannot be given back in order, and the process ends with it.
void Context::close() noexcept {
  m_driver->context_set_current(m_context);
  if (m_stream != nullptr) m_driver->stream_destroy(m_stream);
  if (m_helpers != nullptr) m_driver->module_unload(m_helpers);
  m_driver->primary_context_release(m_ordinal);
}

void Context::make_current() const { CUDAOPT_CUDA(m_driver, context_set_current, m_context); }

int Context::attribute(int which) const {
  int value = 0;
  CUDAOPT_CUDA(m_driver, device_get_attribute, &value, which, m_ordinal);
  return value;
}

int Context::compute_capability_major() const { return attribute(kComputeMajor); }

DeviceLimits Context::limits() const {
  DeviceLimits limits = m_facts;
  std::size_t free = 0, total = 0;
  CUDAOPT_CUDA(m_driver, memory_get_info, &free, &total);
  limits.gpu->free_bytes = free + (m_spare == nullptr ? 0 : m_spare->bytes());
  return limits;
}

DeviceLimits Context::read_facts() const {
  const auto natural = [this](int which) { return static_cast<std::uint32_t>(attribute(which)); };
  DeviceLimits limits;
  limits.name = name_of(m_driver, m_ordinal);
  limits.multiprocessors = natural(kMultiprocessors);
  limits.max_threads_per_block = natural(kMaxThreadsPerBlock);
  limits.max_shared_bytes = std::max(natural(kMaxSharedBytesOptIn), natural(kMaxSharedBytes));
  limits.warp_size = natural(kWarpSize);
  limits.max_block = {natural(kMaxBlockX), natural(kMaxBlockX + 1), natural(kMaxBlockX + 2)};
  limits.max_grid = {natural(kMaxGridX), natural(kMaxGridX + 1), natural(kMaxGridX + 2)};
  limits.architecture =
      "sm_" + std::to_string(attribute(kComputeMajor)) + std::to_string(attribute(kComputeMinor));
  limits.launches_clusters =
      m_driver.version() >= kFirstWithClusters && attribute(kClusterLaunch) != 0;
  limits.gpu = read_gpu();
  return limits;
}

GpuFacts Context::read_gpu() const {
  GpuFacts gpu;
  gpu.uuid = uuid_of(m_driver, m_ordinal);
  gpu.driver_major = m_driver.version() / 1000;
  gpu.driver_minor = m_driver.version() % 1000 / 10;
  std::size_t free = 0, total = 0;
  CUDAOPT_CUDA(m_driver, memory_get_info, &free, &total);
  gpu.memory_bytes = total;
  gpu.free_bytes = free;
  gpu.l2_bytes = static_cast<std::uint64_t>(attribute(kL2Bytes));
  gpu.sm_clock_mhz = attribute(kClockKhz) / 1e3;
  gpu.memory_clock_mhz = attribute(kMemoryClockKhz) / 1e3;
  gpu.memory_bus_bits = static_cast<std::uint32_t>(attribute(kMemoryBusBits));
  gpu.guard_pages = attribute(kVirtualMemory) != 0;
  return gpu;
}

bool Context::has_guard_pages() const { return m_facts.gpu->guard_pages; }

bool Context::make_room() const {
  if (m_spare == nullptr || m_spare->bytes() == 0) return false;
  m_spare->give_back();
  return true;
}

double Context::tick_ns(const std::function<double()>& measure) const {
  if (!m_tick_ns) m_tick_ns = measure();
  return *m_tick_ns;
}

FunctionHandle Context::helper(const char* name) const {
  FunctionHandle function = nullptr;
  m_driver.check_own_work(m_driver->module_get_function(&function, m_helpers, name),
                          std::string("our own kernel ") + name);
  return function;
}

void Context::synchronize(const std::string& what) const {
  m_driver.check(m_driver->context_synchronize(), what);
}

void Context::synchronize_own_work(const std::string& what) const {
  m_driver.check_own_work(m_driver->context_synchronize(), what);
}

}  // namespace cudaopt::cuda
