// The function table, and calls whose failures become faults.
#include "compile/nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "device.hpp"

namespace cudaopt::compile {
namespace {

constexpr const char* kInstall =
    "Install it with: pip install \"cuda-toolkit[nvrtc]>=13,<14\", or name libnvrtc with --nvrtc.";
constexpr NvrtcFunctions::Result kInvalidOption = 5, kCompilation = 6, kBuiltinOperation = 7,
                                 kInvalidNameExpression = 10;

void check(const NvrtcFunctions& functions, NvrtcFunctions::Result result, const char* call) {
  if (result == 0) return;
  throw Fault(FaultKind::compile_error, std::string("NVRTC failed in ") + call + ": " +
                                            functions.get_error_string(result) + ".");
}

#define CUDAOPT_NVRTC(functions, function, ...) \
  check(functions, (functions).function(__VA_ARGS__), #function)

void* open_library(const std::string& path) {
  const std::vector<std::string> names =
      path.empty() ? std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12"}
                   : std::vector<std::string>{path};
  std::string tried;
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    tried += (tried.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw Fault(FaultKind::no_nvrtc,
              "NVRTC, the CUDA run-time compiler, cannot be opened (" + tried + "). " + kInstall);
}

template <class Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr) {
    throw Fault(FaultKind::no_nvrtc, std::string("the library opened as NVRTC has no function ") +
                                         symbol + ": it is not NVRTC 12 or 13. " + kInstall);
  }
}

}  // namespace

std::vector<std::string> builtins_beside(const std::string& library) {
  std::vector<std::string> found;
  std::error_code ignored;  // a folder that cannot be read has none
  const auto folder = std::filesystem::path(library).parent_path();
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = file.path().filename().string();
    if (name.rfind("libnvrtc-builtins.so", 0) == 0) found.push_back(file.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Nvrtc::Nvrtc(const std::string& path) : m_library(open_library(path)) {
  // NVRTC opens them by name, which finds them only if they are open already or in the loader's
  // path: the wheels of CUDA 13.0 say no path.
  for (const std::string& builtins : builtins_beside(path)) {
    m_builtins.emplace_back(dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL));
  }
  resolve(m_library.get(), "nvrtcGetErrorString", m_functions.get_error_string);
  resolve(m_library.get(), "nvrtcCreateProgram", m_functions.create_program);
  resolve(m_library.get(), "nvrtcDestroyProgram", m_functions.destroy_program);
  resolve(m_library.get(), "nvrtcCompileProgram", m_functions.compile_program);
  resolve(m_library.get(), "nvrtcAddNameExpression", m_functions.add_name_expression);
  resolve(m_library.get(), "nvrtcGetLoweredName", m_functions.get_lowered_name);
  resolve(m_library.get(), "nvrtcGetProgramLogSize", m_functions.get_log_size);
  resolve(m_library.get(), "nvrtcGetProgramLog", m_functions.get_log);
  resolve(m_library.get(), "nvrtcGetPTXSize", m_functions.get_ptx_size);
  resolve(m_library.get(), "nvrtcGetPTX", m_functions.get_ptx);
  resolve(m_library.get(), "nvrtcGetCUBINSize", m_functions.get_cubin_size);
  resolve(m_library.get(), "nvrtcGetCUBIN", m_functions.get_cubin);
}

void Nvrtc::Close::operator()(void* library) const {
  if (library != nullptr) dlclose(library);
}

const Nvrtc& NvrtcLibraries::open(const std::string& path) {
  auto& library = m_by_path[path];
  if (!library) library = std::make_unique<Nvrtc>(path);
  return *library;
}

NvrtcProgram::NvrtcProgram(const Nvrtc& nvrtc, const std::string& source, const std::string& file,
                           const std::map<std::string, std::string>& headers)
    : m_functions(nvrtc.functions()) {
  std::vector<const char*> texts, names;
  for (const auto& [name, text] : headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  CUDAOPT_NVRTC(m_functions, create_program, &m_program, source.c_str(), file.c_str(),
                static_cast<int>(headers.size()), texts.data(), names.data());
}

NvrtcProgram::~NvrtcProgram() {
  if (m_program != nullptr) m_functions.destroy_program(&m_program);
}

void NvrtcProgram::add_name_expression(const std::string& expression) {
  CUDAOPT_NVRTC(m_functions, add_name_expression, m_program, expression.c_str());
}

bool NvrtcProgram::compile(const std::vector<std::string>& options) {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  const auto result =
      m_functions.compile_program(m_program, static_cast<int>(texts.size()), texts.data());
  if (result == kCompilation || result == kInvalidOption || result == kInvalidNameExpression) {
    return false;
  }
  if (result == kBuiltinOperation) {
    throw Fault(FaultKind::no_nvrtc,
                std::string("NVRTC was opened but cannot open libnvrtc-builtins, which belongs "
                            "beside it. ") +
                    kInstall);
  }
  check(m_functions, result, "compile_program");
  return true;
}

std::string NvrtcProgram::fetch(Sizer size, Getter get, const char* what) const {
  std::size_t bytes = 0;
  check(m_functions, size(m_program, &bytes), what);
  std::string content(bytes, '\0');
  check(m_functions, get(m_program, content.data()), what);
  return content;
}

// Texts end with a zero byte that is counted in their size.
std::string NvrtcProgram::log() const {
  return fetch(m_functions.get_log_size, m_functions.get_log, "get_log").c_str();
}

std::string NvrtcProgram::ptx() const {
  return fetch(m_functions.get_ptx_size, m_functions.get_ptx, "get_ptx").c_str();
}

std::vector<std::uint8_t> NvrtcProgram::cubin() const {
  const std::string content = fetch(m_functions.get_cubin_size, m_functions.get_cubin, "get_cubin");
  return {content.begin(), content.end()};
}

std::string NvrtcProgram::lowered_name(const std::string& expression) const {
  const char* name = nullptr;
  CUDAOPT_NVRTC(m_functions, get_lowered_name, m_program, expression.c_str(), &name);
  return name;
}

}  // namespace cudaopt::compile
