#include "sim/sim_device.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include "isa.hpp"
#include "model/device_table.hpp"
#include "ptx/parser.hpp"
#include "sim/decode.hpp"
#include "sim/device_memory.hpp"
#include "sim/instruction_set.hpp"
#include "sim/launch.hpp"
#include "sim/launch_checks.hpp"
#include "sim/launch_watch.hpp"
#include "sim/measure.hpp"
#include "sim/module_image.hpp"
#include "sim/printed_text.hpp"
#include "sim/read_shadow.hpp"
#include "sim/shadow_plan.hpp"
#include "sim/symbols.hpp"

namespace cudaopt {
namespace {

using sim::Launch;
using sim::ModuleImage;
using sim::Program;

constexpr std::uint64_t kDefaultBlockInstructions = std::uint64_t{1} << 31;
constexpr std::size_t kGridWorkspaceBytes = 64;

// One entry, decoded for what launches of it look for.
struct Variants {
  const ptx::Function* function = nullptr;
  std::map<sim::Watch, Program> programs;
};

// What `load` made of one module.
struct LoadedModule {
  std::unique_ptr<ModuleImage> image;
  std::unordered_map<std::string, Variants> entries;  // by mangled name
  std::map<std::string, std::string> lowered;
  std::map<std::string, Resources> resources;
  std::string ptx;
};

const model::DeviceTable& find_table(const std::string& name) {
  try {
    return model::device_table(name);
  } catch (const std::invalid_argument& error) {
    throw Fault(FaultKind::invalid_request, error.what());
  }
}

class SimDevice final : public Device {
 public:
  explicit SimDevice(const SimOptions& options)
      : m_table(find_table(options.model)),
        m_instructions(sim::instruction_set(choose_isa(options.isa))),
        m_threads(options.threads != 0 ? options.threads
                                       : std::max(1u, std::thread::hardware_concurrency())),
        m_block_instructions(options.block_instructions != 0 ? options.block_instructions
                                                             : kDefaultBlockInstructions) {}

  [[nodiscard]] std::string description() const override {
    return "sim (modelled " + std::string(m_table.name) + ")";
  }

  [[nodiscard]] DeviceLimits limits() const override {
    DeviceLimits limits;
    limits.name = description();
    limits.multiprocessors = m_table.multiprocessors;
    limits.max_threads_per_block = m_table.max_threads_per_block;
    limits.max_shared_bytes = m_table.shared_bytes_per_block;
    limits.max_grid = {0x7fffffff, 65535, 65535};
    limits.max_block = {1024, 1024, 64};
    limits.architecture = m_table.architecture;
    return limits;
  }

  std::vector<std::string> load(const CompiledModule& compiled) override {
    LoadedModule& loaded = m_modules[compiled.name];
    if (loaded.image != nullptr && loaded.ptx == compiled.ptx) {
      loaded.image->reset_variables(m_memory);
    } else {
      loaded = make_module(compiled);
    }
    return notes_of(loaded);
  }

  void create_buffer(const BufferSpec& spec) override { m_memory.create_buffer(spec); }
  void write(const std::string& buffer, const std::vector<std::uint8_t>& bytes) override {
    m_memory.write(buffer, bytes);
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

  [[nodiscard]] ShadowValues read_shadow(const std::string& buffer,
                                         const std::string& dtype) override {
    return sim::read_shadow(m_memory, m_shadow, buffer, dtype);
  }

  LaunchReport launch(const LaunchSpec& spec) override {
    LoadedModule& module = find_module(spec);
    sim::write_symbols(spec, *module.image, m_memory);
    Launch launch = make_launch(spec, module);
    sim::PrintedText printed;
    launch.printed = &printed;
    sim::LaunchShadow shadow(m_shadow);
    if (launch.program->shadow != nullptr) {
      m_shadow.prepare(m_memory.allocations(), launch.program->shadow->cell_bytes);
      launch.shadow = &shadow;
    }
    LaunchReport report;
    try {
      if (spec.checks.any()) {
        run_watched(spec, launch, report);
      } else {
        report.counters = run(launch);
      }
    } catch (const Fault& fault) {
      FaultDetail detail = fault.detail();
      detail.printed = printed.take();
      throw Fault(std::move(detail));
    }
    m_memory.count_as_written();
    report.rounding = sim::rounding_loss(launch, shadow);
    report.printed = printed.take();
    return report;
  }

  Measurement measure(const LaunchSpec& spec, const MeasureSpec& how) override {
    LoadedModule& module = find_module(spec);
    sim::write_symbols(spec, *module.image, m_memory);
    Launch launch = make_launch(spec, module);
    if (waits_for_blocks(spec, launch)) {
      throw Fault(FaultKind::unsupported_instruction,
                  "sim models no latency of the cooperative launch of '" + spec.entry +
                      "', whose blocks may wait for each other: run on cuda");
    }
    model::LaunchShape shape;
    shape.grid = spec.grid;
    shape.block = spec.block;
    shape.dynamic_shared_bytes = spec.shared_bytes;
    shape.resources = resources_of(module, *launch.program);
    shape.resources.static_shared_bytes = launch.program->static_shared_bytes;
    const sim::RestoreMemory restore(m_memory);
    return sim::measure_launch(launch, m_instructions.run_slice, m_table, shape, m_threads,
                               how.by_line);
  }

  InterleavedTiming interleave(const InterleaveSpec&) override {
    throw Fault(FaultKind::invalid_request,
                "the step \"interleave\" expects a GPU, got sim: modelled times have no noise. Use "
                "a step \"measure\" for each kernel.");
  }

 private:
  LoadedModule make_module(const CompiledModule& compiled) {
    LoadedModule loaded;
    loaded.ptx = compiled.ptx;
    loaded.lowered = compiled.lowered;
    loaded.resources = compiled.resources;
    loaded.image = std::make_unique<ModuleImage>(parse(compiled), compiled.file, m_memory);
    for (const ptx::Function& function : loaded.image->module().functions) {
      if (!function.entry) continue;
      Variants& entry = loaded.entries[function.name];
      entry.function = &function;
      static_cast<void>(program_of(entry, *loaded.image, sim::Watch::nothing));
    }
    return loaded;
  }

  static ptx::Module parse(const CompiledModule& compiled) {
    try {
      return ptx::parse(compiled.ptx);
    } catch (const ptx::ParseError& error) {
      throw Fault(FaultKind::unsupported_instruction,
                  "sim cannot read the PTX of module '" + compiled.name + "': " + error.what());
    }
  }

  static std::vector<std::string> notes_of(const LoadedModule& module) {
    std::vector<std::string> notes;
    for (const auto& [name, entry] : module.entries) {
      const Program& program = entry.programs.at(sim::Watch::nothing);
      notes.insert(notes.end(), program.notes.begin(), program.notes.end());
    }
    std::sort(notes.begin(), notes.end());
    return notes;
  }

  LoadedModule& find_module(const LaunchSpec& spec) {
    const auto found = m_modules.find(spec.module);
    if (found == m_modules.end()) {
      throw Fault(FaultKind::invalid_request, "module '" + spec.module + "' is not loaded");
    }
    return found->second;
  }

  const Program& program_of(Variants& entry, const ModuleImage& image, sim::Watch watch) const {
    const auto found = entry.programs.find(watch);
    if (found != entry.programs.end()) return found->second;
    Program program = sim::decode(image, *entry.function, m_instructions.bind, watch);
    if (watch == sim::Watch::rounding) sim::add_shadow(program, m_instructions.bind_shadow);
    return entry.programs.emplace(watch, std::move(program)).first->second;
  }

  static sim::Watch watch_of(const CheckSpec& checks) {
    if (checks.rounding) return sim::Watch::rounding;
    return checks.any() ? sim::Watch::accesses : sim::Watch::nothing;
  }

  const Program& find_program(const LaunchSpec& spec, LoadedModule& module) const {
    const auto lowered = module.lowered.find(spec.entry);
    const std::string& name = lowered == module.lowered.end() ? spec.entry : lowered->second;
    const auto found = module.entries.find(name);
    if (found != module.entries.end()) {
      return program_of(found->second, *module.image, watch_of(spec.checks));
    }
    std::vector<std::string> names;
    for (const auto& [known, entry] : module.entries) names.push_back(known);
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
    throw Fault(FaultKind::unknown_entry,
                "module '" + spec.module + "' has no kernel '" + spec.entry + "'; it has: " + list);
  }

  Launch make_launch(const LaunchSpec& spec, LoadedModule& module) {
    const Program& program = find_program(spec, module);
    sim::check_shape(spec, program, limits());
    const Resources resources = resources_of(module, program);
    sim::check_cooperative(spec, program, resources, m_table, limits());
    Launch launch;
    launch.order = spec.order;
    launch.resident_blocks = sim::resident_blocks(spec, program, resources, m_table);
    launch.program = &program;
    launch.image = module.image.get();
    launch.constants = module.image->constant_bytes().data();
    launch.constant_bytes = module.image->constant_bytes().size();
    launch.grid = spec.grid;
    launch.block = spec.block;
    launch.dynamic_shared_bytes = spec.shared_bytes;
    launch.shared_bytes = program.dynamic_shared_offset + spec.shared_bytes;
    launch.block_instructions = m_block_instructions;
    launch.cluster = spec.cluster;
    if (spec.cooperative) launch.grid_workspace = cleared_grid_workspace();
    // After the workspace, which may be new.
    launch.allocations = m_memory.allocations().data();
    launch.allocation_count = m_memory.allocations().size();
    launch.parameters = sim::parameter_block(spec, program, m_memory);
    return launch;
  }

  Counters run(Launch& launch) {
    return sim::run_launch(launch, m_instructions.run_slice, m_threads);
  }

  // What was found before a fault is answered with it.
  void run_watched(const LaunchSpec& spec, Launch& launch, LaunchReport& report) {
    sim::LaunchWatch watch(launch, spec.checks);
    launch.watch = &watch;
    try {
      report.counters = run(launch);
    } catch (const Fault& fault) {
      FaultDetail detail = fault.detail();
      detail.findings = std::make_shared<const std::vector<Finding>>(watch.finish());
      throw Fault(std::move(detail));
    }
    report.findings = watch.finish();
    report.touched_bytes = watch.touched_bytes();
    report.notes = watch.notes();
  }

  // Whether a block may need another one to go on: a sample of them would wait for ever.
  static bool waits_for_blocks(const LaunchSpec& spec, const Launch& launch) {
    return spec.cooperative && launch.program->ordered;
  }

  static Resources resources_of(const LoadedModule& module, const Program& program) {
    const auto found = module.resources.find(program.function->name);
    return found == module.resources.end() ? Resources{} : found->second;
  }

  // What a driver hands to cooperative launches: a size, and the barrier of the grid.
  std::uint64_t cleared_grid_workspace() {
    if (m_grid_workspace == 0) {
      m_grid_workspace = m_memory.create_variable("the grid's barrier", kGridWorkspaceBytes);
    }
    std::fill_n(m_memory.variable_bytes(m_grid_workspace), kGridWorkspaceBytes, std::uint8_t{0});
    return m_grid_workspace;
  }

  const model::DeviceTable& m_table;
  sim::InstructionSet m_instructions;
  unsigned m_threads;
  std::uint64_t m_block_instructions;
  sim::DeviceMemory m_memory;
  sim::MemoryShadow m_shadow;
  std::uint64_t m_grid_workspace = 0;  // its address; 0: none yet
  std::unordered_map<std::string, LoadedModule> m_modules;
};

}  // namespace

std::unique_ptr<Device> make_sim_device(const SimOptions& options) {
  return std::make_unique<SimDevice>(options);
}

}  // namespace cudaopt
