#include "kernels.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "clock.hpp"
#include "memory.hpp"
#include "settings.hpp"

namespace made_up {
namespace {

// No multiple of the events' tick, so that times of the same work differ by one, as on a GPU.
constexpr std::uint64_t kUsualNs = 5000, kHelperNs = 2001;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// The number that follows `word` in `name`.
std::uint64_t number_after(const std::string& name, const char* word, std::uint64_t otherwise) {
  const auto at = name.find(word);
  return at == std::string::npos
             ? otherwise
             : std::strtoull(name.c_str() + at + std::strlen(word), nullptr, 10);
}

// An array argument. The book is asked once for all its elements, and each time for one outside.
class Array {
 public:
  Array(DevicePointer base, std::int64_t n)
      : m_base(base),
        m_n(n),
        m_may_read(addresses().may_read(base, 4 * static_cast<std::uint64_t>(n))),
        m_may_write(addresses().may_write(base, 4 * static_cast<std::uint64_t>(n))) {}

  float load(std::int64_t i) {
    m_faulted |= !(is_inside(i) && m_may_read) && !addresses().may_read(at(i), 4);
    return m_faulted ? 0 : *host_pointer<float>(at(i));
  }
  void store(std::int64_t i, float value) {
    m_faulted |= !(is_inside(i) && m_may_write) && !addresses().may_write(at(i), 4);
    if (!m_faulted) *host_pointer<float>(at(i)) = value;
  }
  [[nodiscard]] bool faulted() const { return m_faulted; }

 private:
  [[nodiscard]] bool is_inside(std::int64_t i) const { return i >= 0 && i < m_n; }
  [[nodiscard]] DevicePointer at(std::int64_t i) const {
    return m_base + static_cast<std::uint64_t>(4 * i);
  }

  DevicePointer m_base;
  std::int64_t m_n;
  bool m_may_read, m_may_write, m_faulted = false;
};

// The arguments of a kernel that is not ours.
struct Arrays {
  explicit Arrays(const Launch& launch)
      : n(static_cast<std::int32_t>(launch.values[2])),
        x(launch.values[0], n),
        y(launch.values[1], n) {}

  [[nodiscard]] Result result() const {
    return x.faulted() || y.faulted() ? kIllegalAddress : kSuccess;
  }

  std::int64_t n;
  Array x, y;
};

void copy_elements(Arrays& arrays, std::int64_t count, float factor = 1, float addend = 0) {
  for (std::int64_t i = 0; i < count; ++i) arrays.y.store(i, factor * arrays.x.load(i) + addend);
}

// The cheat: it computes once, and hands out that answer ever after.
void remember(Arrays& arrays, float factor, std::vector<float>& remembered) {
  for (auto i = static_cast<std::int64_t>(remembered.size()); i < arrays.n; ++i)
    remembered.push_back(factor * arrays.x.load(i));
  for (std::int64_t i = 0; i < arrays.n; ++i)
    arrays.y.store(i, remembered[static_cast<std::size_t>(i)]);
}

// Right once: later launches find what the first one left behind.
void do_once(Arrays& arrays, std::vector<float>& remembered) {
  copy_elements(arrays, arrays.n, 1, remembered.empty() ? 0 : 1);
  remembered.push_back(1);
}

void copy_and_misbehave(Arrays& arrays, const std::string& name) {
  const std::int64_t n = arrays.n;
  copy_elements(arrays, contains(name, "leaves_unwritten") ? n - 1 : n);
  if (contains(name, "writes_past_end")) arrays.y.store(n, 1);
  if (contains(name, "adds_past_end")) arrays.y.store(n, arrays.y.load(n) + 1);
  if (contains(name, "reads_past_end")) arrays.y.store(0, arrays.x.load(n));
  if (contains(name, "writes_before")) arrays.y.store(-1, 1);
  if (contains(name, "writes_input")) arrays.x.store(0, 42);
}

// Each element by the float at the beginning of the module's first variable, which `spends_`
// changes.
Result weigh(Arrays& arrays, const Launch& launch) {
  const Variables& variables = *launch.function->variables;
  if (variables.empty() || variables.begin()->second.bytes < 4) return kIllegalAddress;
  float& weight = *host_pointer<float>(variables.begin()->second.pointer);
  copy_elements(arrays, arrays.n, weight);
  if (contains(launch.function->name, "spends")) weight = 0;
  return arrays.result();
}

[[noreturn]] void never_end() {
  for (;;) pause();
}

Result execute_users(const Launch& launch) {
  const std::string& name = launch.function->name;
  if (contains(name, "never_ends")) never_end();
  if (contains(name, "crashes")) std::abort();
  if (contains(name, "faults_")) return static_cast<Result>(number_after(name, "faults_", 0));
  if (contains(name, "does_nothing")) return kSuccess;
  Arrays arrays(launch);
  if (contains(name, "weighs")) return weigh(arrays, launch);
  if (contains(name, "adds_one")) {
    copy_elements(arrays, arrays.n, 1, 1);
  } else if (contains(name, "accumulates")) {
    for (std::int64_t i = 0; i < arrays.n; ++i)
      arrays.y.store(i, arrays.y.load(i) + arrays.x.load(i));
  } else if (contains(name, "keeps_maximum")) {
    // A NaN loses against any number.
    for (std::int64_t i = 0; i < arrays.n; ++i)
      arrays.y.store(i, std::fmax(arrays.y.load(i), arrays.x.load(i)));
  } else if (contains(name, "is_right_once")) {
    do_once(arrays, launch.function->remembered);
  } else if (contains(name, "remembers")) {
    remember(arrays, contains(name, "scale") ? 2.0F : 1.0F, launch.function->remembered);
  } else if (contains(name, "scale")) {
    copy_elements(arrays, arrays.n, 2);
  } else {
    copy_and_misbehave(arrays, name);
  }
  return arrays.result();
}

// The host has to have released it by now: work is executed when the host waits for it.
Result wait_for_host(const Launch& launch) {
  const DevicePointer flag = launch.values[0], timed_out = launch.values[2];
  if (!addresses().may_read(flag, 4) || !addresses().may_write(timed_out, 4))
    return kIllegalAddress;
  if (*host_pointer<std::uint32_t>(flag) != 0) return kSuccess;
  *host_pointer<std::uint32_t>(timed_out) = 1;
  gpu_clock().advance(launch.values[1]);
  return kSuccess;
}

Result read_clocks(const Launch& launch) {
  const DevicePointer slot = launch.values[0];
  if (!addresses().may_write(slot, 16)) return kIllegalAddress;
  host_pointer<std::uint64_t>(slot)[0] = gpu_clock().cycles();
  host_pointer<std::uint64_t>(slot)[1] = gpu_clock().globaltimer_ns();
  return kSuccess;
}

Result execute_ours(const Launch& launch) {
  const std::string& name = launch.function->name;
  if (name == "cudaopt_dirty_shared") return settings().own_kernel;
  if (name == "cudaopt_wait") return wait_for_host(launch);
  if (name == "cudaopt_clock") return read_clocks(launch);
  if (name == "cudaopt_read")
    return addresses().may_read(launch.values[0], 16 * launch.values[1]) ? kSuccess
                                                                         : kIllegalAddress;
  if (name == "cudaopt_demote")
    return addresses().may_read(launch.values[0], 128 * launch.values[1]) ? kSuccess
                                                                          : kIllegalAddress;
  return kSuccess;
}

}  // namespace

bool is_ours(const std::string& name) { return name.rfind("cudaopt_", 0) == 0; }

std::vector<std::uint64_t> parameter_bytes(const std::string& name) {
  if (name == "cudaopt_wait" || name == "cudaopt_read") return {8, 8, 8};
  if (name == "cudaopt_clock") return {8};
  if (name == "cudaopt_demote") return {8, 8};
  if (name == "cudaopt_dirty_shared") return {4};
  if (is_ours(name)) return {};
  if (contains(name, "in_struct")) return {24};
  return {8, 8, 4};
}

int cluster_of(const std::string& name) {
  return static_cast<int>(number_after(name, "clusters_of_", 0));
}

Result refusal(const std::string& name) {
  return static_cast<Result>(number_after(name, "refuses_", kSuccess));
}

bool waits_for_gpu(const Function& function) {
  return contains(function.name, "waits_for_gpu") ||
         (contains(function.name, "loads_late") && !function.is_loaded);
}

std::uint64_t duration_ns(const std::string& name) {
  return number_after(name, "takes_", is_ours(name) ? kHelperNs : kUsualNs);
}

std::string first_input(const Launch& launch) {
  const std::string& name = launch.function->name;
  if (is_ours(name) || !addresses().may_read(launch.values[0], 4)) return "";
  std::ostringstream text;
  text << *host_pointer<float>(launch.values[0]);
  return text.str();
}

Result execute(const Launch& launch) {
  return is_ours(launch.function->name) ? execute_ours(launch) : execute_users(launch);
}

}  // namespace made_up
