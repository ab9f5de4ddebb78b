// One GPU, opened once per process: its primary context, its facts, and the kernels of our own that
// measuring needs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cuda/driver.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// Memory that is held for speed alone, and given back when something needs it.
class SpareMemory {
 public:
  SpareMemory() = default;
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;
  virtual ~SpareMemory() = default;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  virtual void give_back() = 0;
};

class Context {
 public:
  Context(const Driver& driver, int index);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  // Requests may come from any thread.
  void make_current() const;
  [[nodiscard]] const Driver& driver() const { return m_driver; }
  [[nodiscard]] DeviceOrdinal ordinal() const { return m_ordinal; }
  // As of opening; only `free_bytes` ever changes.
  [[nodiscard]] const DeviceLimits& facts() const { return m_facts; }
  [[nodiscard]] int compute_capability_major() const;
  // Memory is free as of now, or will be when it is needed.
  [[nodiscard]] DeviceLimits limits() const;
  // Whether memory can end against an unmapped page.
  [[nodiscard]] bool has_guard_pages() const;
  // Null: there is none any more.
  void set_spare(SpareMemory* spare) const { m_spare = spare; }
  // Whether spare memory was given back, so that it is worth trying again.
  [[nodiscard]] bool make_room() const;
  // A kernel of helper_kernels.hpp.
  [[nodiscard]] FunctionHandle helper(const char* name) const;
  [[nodiscard]] StreamHandle stream() const { return m_stream; }
  // The resolution of events. `measure` is called once, by the first who asks: it takes
  // milliseconds.
  [[nodiscard]] double tick_ns(const std::function<double()>& measure) const;
  // Waits for all work; throws the Fault it ended in.
  void synchronize(const std::string& what) const;
  // The same where no kernel of the request can be at work.
  void synchronize_own_work(const std::string& what) const;

 private:
  void close() noexcept;
  [[nodiscard]] int attribute(int which) const;  // CUdevice_attribute
  [[nodiscard]] DeviceLimits read_facts() const;
  [[nodiscard]] GpuFacts read_gpu() const;

  const Driver& m_driver;
  DeviceOrdinal m_ordinal = 0;
  ContextHandle m_context = nullptr;
  ModuleHandle m_helpers = nullptr;
  StreamHandle m_stream = nullptr;
  DeviceLimits m_facts;
  mutable std::optional<double> m_tick_ns;
  mutable SpareMemory* m_spare = nullptr;  // whoever holds it sees the context as it is otherwise
};

}  // namespace cudaopt::cuda
