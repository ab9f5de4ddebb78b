// One function per step, and the device the steps act on.
#include "steps/executor.hpp"

#include <algorithm>
#include <utility>

#include "compile/compiler.hpp"
#include "protocol/sha256.hpp"
#include "sim/sim_device.hpp"

namespace cudaopt::steps {
namespace {

using namespace protocol;

std::unique_ptr<Device> make_device(const Request& request) {
  if (request.device == "sim") {
    SimOptions options;
    options.threads = request.sim.threads;
    options.isa = request.sim.isa;
    options.model = request.sim.model;
    options.block_instructions = request.sim.block_instructions;
    return make_sim_device(options);
  }
  if (request.device.rfind("cuda:", 0) == 0) {
    throw Fault(FaultKind::no_device,
                "request.device: this version of the harness executes on "
                "\"sim\" only, got \"" +
                    request.device + "\". Use \"sim\".");
  }
  throw Fault(FaultKind::invalid_request,
              "request.device: expected \"sim\" or \"cuda:N\", got \"" + request.device + "\".");
}

std::string buffer_label(const std::string& name) { return "buffer \"" + name + "\""; }
std::string module_label(const std::string& name) { return "module \"" + name + "\""; }

}  // namespace

Executor::Executor(const Request& request, compile::NvrtcLibraries& libraries,
                   std::string nvrtc_path, Progress& progress)
    : m_request(request),
      m_libraries(libraries),
      m_nvrtc_path(std::move(nvrtc_path)),
      m_progress(progress),
      m_files(request.directory) {
  if (m_nvrtc_path.empty()) m_nvrtc_path = request.nvrtc.value_or("");
}

void Executor::run() {
  m_device = make_device(m_request);
  m_progress.set_device(m_device->description());
  create_buffers();
  for (std::size_t i = 0; i < m_request.steps.size(); ++i) {
    m_progress.begin_step(i);
    m_progress.finish_step(std::visit(*this, m_request.steps[i]));
  }
}

void Executor::create_buffers() {
  for (const BufferEntry& buffer : m_request.buffers) {
    const BufferSpec& spec = buffer.spec;
    m_device->create_buffer(spec);
    if (buffer.initial_file) {
      m_device->write(spec.name, m_files.read_exactly(*buffer.initial_file, spec.bytes,
                                                      buffer_label(spec.name)));
    }
  }
}

// Names in steps were checked when the request was parsed.
const ModuleSpec& Executor::spec_of(const std::string& module) const {
  return *std::find_if(m_request.modules.begin(), m_request.modules.end(),
                       [&](const ModuleSpec& spec) { return spec.name == module; });
}

std::uint64_t Executor::bytes_of(const std::string& buffer) const {
  return std::find_if(m_request.buffers.begin(), m_request.buffers.end(),
                      [&](const BufferEntry& entry) { return entry.spec.name == buffer; })
      ->spec.bytes;
}

std::string Executor::source_of(const ModuleSpec& spec) const {
  if (spec.source) return *spec.source;
  if (spec.source_file) return m_files.read_text(*spec.source_file, module_label(spec.name));
  throw Fault(FaultKind::invalid_request,
              module_label(spec.name) +
                  ": expected \"source\" or \"source_file\" for the step "
                  "\"compile\", got neither. Add one.");
}

StepAnswer Executor::operator()(const CompileStep& step) {
  const ModuleSpec& spec = spec_of(step.module);
  const std::string source = source_of(spec);
  compile::Compilation done = compile::compile_module(m_libraries.open(m_nvrtc_path), spec, source);
  const CompiledModule& module = done.module;
  const std::string what = module_label(spec.name);
  if (spec.ptx_file) m_files.write(*spec.ptx_file, module.ptx.data(), module.ptx.size(), what);
  if (spec.cubin_file) {
    m_files.write(*spec.cubin_file, module.cubin.data(), module.cubin.size(), what);
  }
  CompileAnswer answer{std::move(done.diagnostics), module.resources, module.lowered,
                       std::move(done.cubin_sha256)};
  m_compiled[step.module] = std::move(done.module);
  return answer;
}

// A module that was not compiled here comes from the files an earlier request left.
const CompiledModule& Executor::compiled(const std::string& name) {
  const auto found = m_compiled.find(name);
  if (found != m_compiled.end()) return found->second;
  const ModuleSpec& spec = spec_of(name);
  if (!spec.ptx_file || !m_files.exists(*spec.ptx_file)) {
    throw Fault(FaultKind::invalid_request,
                module_label(name) +
                    ": expected a step \"compile\" before this one, or a "
                    "\"ptx_file\" that exists. Add one of them.");
  }
  CompiledModule module;
  module.name = spec.name;
  module.file = spec.file;
  module.ptx = m_files.read_text(*spec.ptx_file, module_label(name));
  module.lowered = spec.lowered;
  module.resources = spec.resources;
  return m_compiled[name] = std::move(module);
}

StepAnswer Executor::operator()(const LoadStep& step) {
  LoadAnswer answer{step.again, m_device->load(compiled(step.module))};
  m_loaded.insert(step.module);
  return answer;
}

StepAnswer Executor::operator()(const FillStep& step) {
  m_device->fill(step.buffer, step.pattern);
  return FillAnswer{};
}

StepAnswer Executor::operator()(const CopyStep& step) {
  m_device->write(step.to, m_device->read(step.from));
  return CopyAnswer{};
}

StepAnswer Executor::operator()(const WriteStep& step) {
  m_device->write(step.buffer, m_files.read_exactly(step.file, bytes_of(step.buffer),
                                                    buffer_label(step.buffer)));
  return WriteAnswer{};
}

// Devices know entries by their lowered names only.
LaunchSpec Executor::with_lowered_entry(LaunchSpec launch) const {
  if (m_loaded.count(launch.module) == 0) {
    throw Fault(FaultKind::invalid_request, module_label(launch.module) +
                                                " is not loaded. Add a step \"load\" before this "
                                                "one.");
  }
  const CompiledModule& module = m_compiled.at(launch.module);
  const auto lowered = module.lowered.find(launch.entry);
  const std::string name = lowered == module.lowered.end() ? launch.entry : lowered->second;
  const std::vector<std::string> found = compile::entries_of(module.ptx);
  if (std::find(found.begin(), found.end(), name) == found.end()) {
    throw Fault(FaultKind::unknown_entry,
                module_label(launch.module) + " has no kernel \"" + launch.entry +
                    "\". __global__ functions found: " + compile::readable_list(found) + ".");
  }
  launch.entry = name;
  return launch;
}

StepAnswer Executor::operator()(const LaunchStep& step) {
  return LaunchAnswer{m_device->launch(with_lowered_entry(step.launch))};
}

StepAnswer Executor::operator()(const ReadStep& step) {
  const std::vector<std::uint8_t> content = m_device->read(step.buffer);
  m_files.write(step.file, content.data(), content.size(), buffer_label(step.buffer));
  return ReadAnswer{content.size()};
}

StepAnswer Executor::operator()(const ReadGuardsStep& step) {
  return ReadGuardsAnswer{m_device->guards_intact(step.buffer)};
}

StepAnswer Executor::operator()(const DigestStep& step) {
  return DigestAnswer{sha256_hex(m_device->read(step.buffer))};
}

StepAnswer Executor::operator()(const CompareDigestStep& step) {
  return CompareDigestAnswer{sha256_hex(m_device->read(step.buffer)) == step.sha256};
}

StepAnswer Executor::operator()(const MeasureStep& step) {
  return MeasureAnswer{m_device->measure(with_lowered_entry(step.launch), step.how)};
}

StepAnswer Executor::operator()(const LimitsStep&) { return LimitsAnswer{m_device->limits()}; }

}  // namespace cudaopt::steps
