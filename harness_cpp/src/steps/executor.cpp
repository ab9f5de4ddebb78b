// One function per step, and the device the steps act on.
#include "steps/executor.hpp"

#include <algorithm>
#include <utility>

#include "compile/compiler.hpp"
#include "compile/kernel_names.hpp"
#include "protocol/sha256.hpp"

namespace cudaopt::steps {
namespace {

using namespace protocol;

constexpr std::size_t kTileUnit = 1 << 16;

std::string buffer_label(const std::string& name) { return "buffer \"" + name + "\""; }
std::string module_label(const std::string& name) { return "module \"" + name + "\""; }

}  // namespace

Executor::Executor(const Request& request, compile::NvrtcLibraries& libraries,
                   std::string nvrtc_path, Devices& devices, Progress& progress)
    : m_request(request),
      m_libraries(libraries),
      m_nvrtc_path(std::move(nvrtc_path)),
      m_devices(devices),
      m_progress(progress),
      m_files(request.directory),
      m_last_reads(request) {
  if (m_nvrtc_path.empty()) m_nvrtc_path = request.nvrtc.value_or("");
}

void Executor::run() {
  m_device = m_devices.open(m_request);
  m_progress.set_device(m_device->description());
  create_buffers();
  for (std::size_t i = 0; i < m_request.steps.size(); ++i) {
    m_progress.begin_step(i);
    m_progress.finish_step(std::visit(*this, m_request.steps[i]));
  }
}

void Executor::create_buffers() {
  for (const BufferEntry& buffer : m_request.buffers) {
    m_device->create_buffer(with_tile(buffer));
    write_initial_contents(buffer);
  }
}

// Whole pages of any host and device, so that a tile can be mapped.
BufferSpec Executor::with_tile(const BufferEntry& buffer) const {
  BufferSpec spec = buffer.spec;
  if (!buffer.tile_file) return spec;
  const std::string tile = m_files.read_text(*buffer.tile_file, buffer_label(spec.name));
  if (tile.empty() || tile.size() % kTileUnit != 0) {
    throw Fault(FaultKind::invalid_request,
                buffer_label(spec.name) + ": file \"" + *buffer.tile_file +
                    "\": expected a multiple of " + std::to_string(kTileUnit) + " bytes, got " +
                    std::to_string(tile.size()) + ". Repeat the tile until it is one.");
  }
  spec.tile.assign(tile.begin(), tile.end());
  return spec;
}

void Executor::write_initial_contents(const BufferEntry& buffer) {
  if (!buffer.initial_file) return;
  const BufferSpec& spec = buffer.spec;
  m_device->write_file(
      spec.name, m_files.content_of(*buffer.initial_file, spec.bytes, buffer_label(spec.name)));
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

const CompiledModule& Executor::compiled(const std::string& name) {
  const auto found = m_compiled.find(name);
  if (found != m_compiled.end()) return found->second;
  return m_compiled[name] = module_from_files(spec_of(name));
}

// A module that was not compiled here comes from the files an earlier request left. A GPU executes
// the cubin; what entries there are is read in the PTX.
CompiledModule Executor::module_from_files(const ModuleSpec& spec) const {
  const std::string label = module_label(spec.name);
  const auto need = [&](const std::optional<std::string>& file, const char* key) {
    if (file && m_files.exists(*file)) return;
    throw Fault(FaultKind::invalid_request,
                label + ": expected a step \"compile\" before this one, or a \"" + key +
                    "\" that exists" + (file ? ", got \"" + *file + "\"" : "") +
                    ". Add one of them.");
  };
  CompiledModule module;
  module.name = spec.name;
  module.file = spec.file;
  need(spec.ptx_file, "ptx_file");
  module.ptx = m_files.read_text(*spec.ptx_file, label);
  if (gpu_index_of(m_request.device)) {
    need(spec.cubin_file, "cubin_file");
    const std::string cubin = m_files.read_text(*spec.cubin_file, label);
    if (cubin.empty()) {
      throw Fault(FaultKind::invalid_request, label + ": expected a cubin in \"" +
                                                  *spec.cubin_file +
                                                  "\", got an empty file. Compile it again.");
    }
    module.cubin.assign(cubin.begin(), cubin.end());
  }
  module.lowered = spec.lowered;
  module.resources = spec.resources;
  return module;
}

StepAnswer Executor::operator()(const LoadStep& step) {
  const CompiledModule& module = compiled(step.module);
  LoadAnswer answer{step.again, m_device->load(module)};
  m_entries[step.module] = compile::entries_of(module.ptx);
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

StepAnswer Executor::operator()(const ResetStep& step) {
  for (const BufferEntry& buffer : m_request.buffers) {
    if (!buffer.spec.alias.empty()) continue;  // its owner's memory
    m_device->poison(buffer.spec.name, step.poison);
    write_initial_contents(buffer);
  }
  return ResetAnswer{};
}

// Devices know entries and variables by their lowered names only.
LaunchSpec Executor::with_lowered_entry(LaunchSpec launch) const {
  const auto entries = m_entries.find(launch.module);
  if (entries == m_entries.end()) {
    throw Fault(FaultKind::invalid_request, module_label(launch.module) +
                                                " is not loaded. Add a step \"load\" before this "
                                                "one.");
  }
  const CompiledModule& module = m_compiled.at(launch.module);
  const auto lowered = module.lowered.find(launch.entry);
  const std::string name = lowered == module.lowered.end() ? launch.entry : lowered->second;
  const std::vector<std::string>& found = entries->second;
  if (std::find(found.begin(), found.end(), name) == found.end()) {
    throw Fault(FaultKind::unknown_entry,
                module_label(launch.module) + " has no kernel \"" + launch.entry +
                    "\". __global__ functions found: " + compile::readable_list(found) + ".");
  }
  launch.entry = name;
  for (SymbolWrite& write : launch.symbols) {
    const auto symbol = module.lowered.find(write.symbol);
    write.lowered = symbol == module.lowered.end() ? write.symbol : symbol->second;
  }
  return launch;
}

StepAnswer Executor::operator()(const LaunchStep& step) {
  return LaunchAnswer{m_device->launch(with_lowered_entry(step.launch))};
}

StepAnswer Executor::operator()(const ReadStep& step) {
  std::vector<std::uint8_t> content = m_device->read(step.buffer);
  ReadAnswer answer;
  answer.bytes = content.size();
  if (step.if_changed) answer.changed = m_last_reads.differ(step.buffer, content);
  const std::string label = buffer_label(step.buffer);
  if (!answer.changed.value_or(true)) {
    // One that an earlier request left would be taken for what the buffer holds.
    m_files.remove(step.file, label);
    return answer;
  }
  m_files.write(step.file, content.data(), content.size(), label);
  m_last_reads.keep(step.buffer, std::move(content));
  return answer;
}

StepAnswer Executor::operator()(const ReadGuardsStep& step) {
  return ReadGuardsAnswer{m_device->guards_intact(step.buffer)};
}

StepAnswer Executor::operator()(const ReadShadowStep& step) {
  const ShadowValues shadow = m_device->read_shadow(step.buffer, step.dtype);
  const std::string label = buffer_label(step.buffer);
  const auto* values = reinterpret_cast<const std::uint8_t*>(shadow.values.data());
  m_files.write(step.values_file, values, shadow.values.size() * sizeof(double), label);
  m_files.write(step.states_file, shadow.states.data(), shadow.states.size(), label);
  return ReadShadowAnswer{shadow.values.size()};
}

StepAnswer Executor::operator()(const DigestStep& step) {
  return DigestAnswer{sha256_hex(m_device->read(step.buffer))};
}

StepAnswer Executor::operator()(const CompareDigestStep& step) {
  return CompareDigestAnswer{sha256_hex(m_device->read(step.buffer)) == step.sha256};
}

FileContents Executor::contents_of(const ContentFiles& files) const {
  FileContents contents;
  for (const auto& [buffer, file] : files) {
    contents[buffer] = m_files.content_of(file, bytes_of(buffer), buffer_label(buffer));
  }
  return contents;
}

StepAnswer Executor::operator()(const MeasureStep& step) {
  MeasureSpec how = step.how;
  for (const ContentFiles& files : step.contents) how.contents.push_back(contents_of(files));
  if (step.held_out) how.held_out = contents_of(*step.held_out);
  const MeasureAnswer answer{m_device->measure(with_lowered_entry(step.launch), how)};
  if (answer.measurement.timing && answer.measurement.timing->captured) {
    write_captured(step, answer.measurement.timing->captured->outputs);
  }
  return answer;
}

void Executor::write_captured(const MeasureStep& step, const Contents& outputs) const {
  for (const ReadStep& asked : step.capture) {
    const std::vector<std::uint8_t>& content = outputs.at(asked.buffer);
    m_files.write(asked.file, content.data(), content.size(), buffer_label(asked.buffer));
  }
}

StepAnswer Executor::operator()(const InterleaveStep& step) {
  InterleaveSpec spec = step.spec;
  for (LaunchSpec& arm : spec.arms) arm = with_lowered_entry(std::move(arm));
  return InterleaveAnswer{m_device->interleave(spec)};
}

StepAnswer Executor::operator()(const LimitsStep&) { return LimitsAnswer{m_device->limits()}; }

}  // namespace cudaopt::steps
