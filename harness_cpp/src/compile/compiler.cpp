// Two programs per module: PTX with line tables, which `sim` executes and which checks signatures;
// and a cubin without them, whose bytes a comment or a line break does not change.
#include "compile/compiler.hpp"

#include <algorithm>
#include <filesystem>

#include "compile/diagnostics.hpp"
#include "compile/kernel_names.hpp"
#include "compile/layout_check.hpp"
#include "compile/ptxas_report.hpp"
#include "compile/signature.hpp"
#include "protocol/sha256.hpp"

namespace cudaopt::compile {
namespace {

// Where NVRTC places messages about name expressions.
constexpr const char* kNameMapFile = "__nv_name_map";

std::vector<std::string> options_of(const protocol::ModuleSpec& spec,
                                    const std::vector<std::string>& own) {
  std::vector<std::string> options = own;
  options.insert(options.end(), spec.options.begin(), spec.options.end());
  for (const std::string& folder : spec.include) options.push_back("-I" + folder);
  return options;
}

[[noreturn]] void fail(std::vector<Diagnostic> diagnostics) {
  FaultDetail detail;
  detail.kind = FaultKind::compile_error;
  detail.message = summary_of(diagnostics);
  const auto first = std::find_if(diagnostics.begin(), diagnostics.end(), is_error);
  if (first != diagnostics.end() && !first->file.empty()) {
    detail.at = SourcePoint{first->file, first->line};
  }
  detail.diagnostics = std::move(diagnostics);
  throw Fault(std::move(detail));
}

bool is_about_names(const Diagnostic& diagnostic) { return diagnostic.file == kNameMapFile; }

std::vector<Diagnostic> of_user(const std::vector<Diagnostic>& diagnostics) {
  std::vector<Diagnostic> kept;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!is_about_names(diagnostic) && !is_about_signature_check(diagnostic) &&
        !is_about_layout_check(diagnostic)) {
      kept.push_back(diagnostic);
    }
  }
  return kept;
}

void place_at_end(std::vector<Diagnostic>& diagnostics, const std::string& source,
                  const std::string& file) {
  const auto lines = static_cast<int>(lines_of(source).size());
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.file == kEndOfSource) {
      diagnostic.file = file;
      diagnostic.line = lines;
    }
  }
}

// NVRTC puts the current directory before names in line tables. Without it the text is the same
// wherever the harness runs, and files have the names the request gave them.
std::string with_files_as_named(const std::string& ptx) {
  const std::string prefix = "\"" + std::filesystem::current_path().string() + "/";
  std::string text;
  for (const std::string& line : lines_of(ptx)) {
    const std::size_t at = line.find(prefix);
    const bool names_file = at != std::string::npos && line.find(".file") < at;
    text += names_file ? line.substr(0, at + 1) + line.substr(at + prefix.size()) : line;
    text += '\n';
  }
  return text;
}

// A variable's name alone is no name expression.
std::string address_of(const protocol::SymbolSpec& symbol) { return "&" + symbol.name; }

class ModuleCompiler {
 public:
  ModuleCompiler(const Nvrtc& nvrtc, const protocol::ModuleSpec& spec, const std::string& source)
      : m_nvrtc(nvrtc), m_spec(spec), m_source(source) {}

  Compilation compile() {
    if (m_source.find('\0') != std::string::npos) {
      throw Fault(FaultKind::invalid_request, "module \"" + m_spec.name +
                                                  "\": its source holds a zero byte, where the "
                                                  "compiler would stop. Remove it.");
    }
    m_compilation.module.name = m_spec.name;
    m_compilation.module.file = m_spec.file;
    if (!m_spec.line_tables && compile_at_once()) return std::move(m_compilation);
    compile_ptx();
    compile_cubin();
    return std::move(m_compilation);
  }

 private:
  // False: it does not compile, and the two programs will say why.
  bool compile_at_once() {
    NvrtcProgram program = make_program(checked_source());
    if (!program.compile(options_of(m_spec, cubin_options()))) return false;
    take_ptx(program);
    take_cubin(program);
    return true;
  }

  void compile_ptx() {
    NvrtcProgram program = make_program(checked_source());
    if (!program.compile(options_of(m_spec, {"-arch=compute_90", "-lineinfo"}))) {
      explain_failure(diagnostics_of(program));
    }
    take_ptx(program);
  }

  void compile_cubin() {
    NvrtcProgram program = make_program(m_source);
    if (!program.compile(options_of(m_spec, cubin_options()))) explain_ptxas_failure(program.log());
    take_cubin(program);
  }

  [[nodiscard]] std::string checked_source() const {
    return m_source + signature_check(m_spec.entries) + layout_check(m_spec);
  }

  [[nodiscard]] NvrtcProgram make_program(const std::string& source) const {
    NvrtcProgram program(m_nvrtc, source, m_spec.file, m_spec.headers);
    for (const protocol::EntrySpec& entry : m_spec.entries) program.add_name_expression(entry.name);
    for (const protocol::SymbolSpec& symbol : m_spec.symbols) {
      program.add_name_expression(address_of(symbol));
    }
    return program;
  }

  [[nodiscard]] std::vector<std::string> cubin_options() const {
    return {"-arch=" + m_spec.architecture, "-Xptxas", "-v"};
  }

  [[nodiscard]] std::vector<Diagnostic> diagnostics_of(const NvrtcProgram& program) const {
    std::vector<Diagnostic> diagnostics = parse_diagnostics(program.log());
    place_at_end(diagnostics, m_source, m_spec.file);
    return diagnostics;
  }

  void take_ptx(const NvrtcProgram& program) {
    m_compilation.diagnostics = of_user(diagnostics_of(program));
    CompiledModule& module = m_compilation.module;
    module.ptx = with_files_as_named(program.ptx());
    for (const protocol::EntrySpec& entry : m_spec.entries) {
      module.lowered[entry.name] = program.lowered_name(entry.name);
    }
    for (const protocol::SymbolSpec& symbol : m_spec.symbols) {
      module.lowered[symbol.name] = program.lowered_name(address_of(symbol));
    }
    refuse_functions_that_are_no_kernels();
  }

  void take_cubin(const NvrtcProgram& program) {
    const std::string log = program.log();
    for (Diagnostic& diagnostic : parse_ptxas_messages(log, "")) {
      m_compilation.diagnostics.push_back(std::move(diagnostic));
    }
    m_compilation.module.resources = parse_resources(log);
    m_compilation.module.cubin = program.cubin();
    m_compilation.cubin_sha256 = protocol::sha256_hex(m_compilation.module.cubin);
  }

  // The user's own errors come first: most others follow from them.
  [[noreturn]] void explain_failure(const std::vector<Diagnostic>& diagnostics) {
    std::vector<Diagnostic> own = of_user(diagnostics);
    if (std::any_of(own.begin(), own.end(), is_error)) fail(std::move(own));
    // Before names: what is not there at all is said of it by its declared name.
    auto mismatches = layout_errors(diagnostics, m_spec, m_source);
    for (const Diagnostic& diagnostic : diagnostics) {
      if (mismatches.empty() && is_about_names(diagnostic)) explain_unknown_entry(diagnostic.text);
    }
    for (Diagnostic& error : signature_errors(diagnostics, m_spec.entries, m_source, m_spec.file)) {
      mismatches.push_back(std::move(error));
    }
    own.insert(own.end(), mismatches.begin(), mismatches.end());
    if (mismatches.empty()) fail(diagnostics);
    fail(std::move(own));
  }

  [[noreturn]] void explain_unknown_entry(const std::string& reason) {
    NvrtcProgram program(m_nvrtc, m_source, m_spec.file, m_spec.headers);
    const bool compiles = program.compile(options_of(m_spec, {"-arch=compute_90"}));
    const std::vector<std::string> found =
        compiles ? entries_of(program.ptx()) : std::vector<std::string>();
    throw Fault(unknown_entry(m_spec.name, reason, m_spec.file, m_source, found));
  }

  void refuse_functions_that_are_no_kernels() const {
    const std::vector<std::string> found = entries_of(m_compilation.module.ptx);
    for (const protocol::EntrySpec& entry : m_spec.entries) {
      const std::string& mangled = m_compilation.module.lowered.at(entry.name);
      if (std::find(found.begin(), found.end(), mangled) != found.end()) continue;
      throw Fault(FaultKind::unknown_entry, "module \"" + m_spec.name + "\": '" + entry.name +
                                                "' is not a __global__ function. " +
                                                kernels_found(m_source, found));
    }
  }

  // ptxas counts lines of the PTX it was given, which is nowhere to be had after a failure. With
  // -lineinfo it is, line for line, the PTX we have.
  [[noreturn]] void explain_ptxas_failure(std::string log) {
    if (names_ptx_lines(log)) {
      NvrtcProgram program = make_program(m_source);
      if (!program.compile(options_of(m_spec, {"-arch=" + m_spec.architecture, "-lineinfo"}))) {
        log = program.log();
      }
    }
    std::vector<Diagnostic> diagnostics = parse_diagnostics(log);
    for (Diagnostic& message : parse_ptxas_messages(log, m_compilation.module.ptx)) {
      diagnostics.push_back(std::move(message));
    }
    fail(std::move(diagnostics));
  }

  const Nvrtc& m_nvrtc;
  const protocol::ModuleSpec& m_spec;
  const std::string& m_source;
  Compilation m_compilation;
};

}  // namespace

Compilation compile_module(const Nvrtc& nvrtc, const protocol::ModuleSpec& spec,
                           const std::string& source) {
  return ModuleCompiler(nvrtc, spec, source).compile();
}

std::vector<std::string> entries_of(const std::string& ptx) {
  constexpr const char* kMark = ".entry ";
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(kMark); at != std::string::npos; at = ptx.find(kMark, at + 1)) {
    const std::size_t start = at + std::string(kMark).size();
    names.push_back(ptx.substr(start, ptx.find_first_of("( \t\r\n", start) - start));
  }
  return names;
}

}  // namespace cudaopt::compile
