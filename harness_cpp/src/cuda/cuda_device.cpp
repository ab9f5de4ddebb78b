#include "cuda/cuda_device.hpp"

#include <map>
#include <utility>

#include "cuda/dirty_shared.hpp"
#include "cuda/interleave.hpp"
#include "cuda/kernel.hpp"
#include "cuda/measure.hpp"
#include "cuda/memory.hpp"
#include "cuda/symbols.hpp"

namespace cudaopt::cuda {
namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(const Context& context, FileCache& files, std::string description)
      : m_context(context), m_description(std::move(description)), m_memory(context, &files) {
    context.make_current();
  }

  [[nodiscard]] std::string description() const override { return m_description; }
  [[nodiscard]] DeviceLimits limits() const override { return m_context.limits(); }

  std::vector<std::string> load(const CompiledModule& module) override {
    m_modules.erase(module.name);
    m_modules.try_emplace(module.name, m_context, module);
    return {};
  }

  void create_buffer(const BufferSpec& spec) override { m_memory.create(spec); }
  void write(const std::string& buffer, const std::vector<std::uint8_t>& bytes) override {
    m_memory.write(buffer, bytes);
  }
  void write_file(const std::string& buffer, const FileContent& file) override {
    m_memory.write_file(buffer, file);
  }
  [[nodiscard]] std::vector<std::uint8_t> read(const std::string& buffer) override {
    return m_memory.read(buffer);
  }
  void fill(const std::string& buffer, const std::vector<std::uint8_t>& pattern) override {
    m_memory.fill(buffer, pattern);
  }
  void poison(const std::string& buffer,
              const std::optional<std::vector<std::uint8_t>>& pattern) override {
    m_memory.poison(buffer, pattern);
  }
  [[nodiscard]] bool guards_intact(const std::string& buffer) override {
    return m_memory.guards_intact(buffer);
  }

  // Errors of a kernel show when it is waited for: after every launch, so that each has one cause.
  LaunchReport launch(const LaunchSpec& spec) override {
    const KernelLaunch launch(m_context, function_of(spec), spec, [this](const std::string& name) {
      return m_memory.find(name).pointer;
    });
    const SymbolWrites symbols = symbols_of(spec);
    m_memory.protect_inputs();
    symbols.enqueue(m_context);
    dirty_shared_memory(m_context);
    m_context.synchronize_own_work("our own kernels before the launch of '" + spec.entry + "'");
    launch.enqueue();
    m_context.synchronize("launch of '" + spec.entry + "'");
    return {};
  }

  Measurement measure(const LaunchSpec& spec, const MeasureSpec& how) override {
    Measurement measurement;
    measurement.kind = Measurement::Kind::measured;
    measurement.timing = cuda::measure(m_context, m_memory, arm_of(spec), how);
    const Timing& timing = *measurement.timing;
    const auto& chosen = timing.mode == SamplingMode::batch ? timing.batch : timing.cold;
    measurement.median_ns = chosen.value().median_ns;
    return measurement;
  }

  InterleavedTiming interleave(const InterleaveSpec& spec) override {
    std::vector<Arm> arms;
    for (const LaunchSpec& arm : spec.arms) arms.push_back(arm_of(arm));
    return cuda::interleave(m_context, m_memory, arms, spec);
  }

 private:
  [[nodiscard]] Arm arm_of(const LaunchSpec& spec) const {
    return {function_of(spec), spec, symbols_of(spec)};
  }
  [[nodiscard]] SymbolWrites symbols_of(const LaunchSpec& spec) const {
    return {m_modules.at(spec.module), m_memory, spec};
  }
  [[nodiscard]] FunctionHandle function_of(const LaunchSpec& spec) const {
    return m_modules.at(spec.module).function(spec.entry);
  }

  const Context& m_context;
  std::string m_description;
  Memory m_memory;
  std::map<std::string, LoadedModule> m_modules;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device(const Context& context, FileCache& files,
                                         std::string description) {
  return std::make_unique<CudaDevice>(context, files, std::move(description));
}

}  // namespace cudaopt::cuda
