// NVRTC, opened at run time: building needs no CUDA, and a machine without it gets a clear fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudaopt::compile {

// The functions we call, declared as NVIDIA documents them (NVRTC 12 and 13).
struct NvrtcFunctions {
  using Result = int;  // 0: success
  using Handle = void*;
  const char* (*get_error_string)(Result);
  Result (*create_program)(Handle*, const char* source, const char* name, int headers,
                           const char* const* texts, const char* const* names);
  Result (*destroy_program)(Handle*);
  Result (*compile_program)(Handle, int options, const char* const* texts);
  Result (*add_name_expression)(Handle, const char*);
  Result (*get_lowered_name)(Handle, const char*, const char**);
  Result (*get_log_size)(Handle, std::size_t*);
  Result (*get_log)(Handle, char*);
  Result (*get_ptx_size)(Handle, std::size_t*);
  Result (*get_ptx)(Handle, char*);
  Result (*get_cubin_size)(Handle, std::size_t*);
  Result (*get_cubin)(Handle, char*);
};

// The libraries of built-in functions in the folder of `library`, sorted; none if it has no folder.
[[nodiscard]] std::vector<std::string> builtins_beside(const std::string& library);

class Nvrtc {
 public:
  // Opens `path` with the built-in functions beside it, or the usual names if it is empty; a
  // no_nvrtc fault says what was tried.
  explicit Nvrtc(const std::string& path);

  [[nodiscard]] const NvrtcFunctions& functions() const { return m_functions; }

 private:
  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> m_library;
  std::vector<std::unique_ptr<void, Close>> m_builtins;
  NvrtcFunctions m_functions{};
};

// Keeps what was opened, because opening takes 100 ms and a server asks for it again and again.
class NvrtcLibraries {
 public:
  [[nodiscard]] const Nvrtc& open(const std::string& path);

 private:
  std::map<std::string, std::unique_ptr<Nvrtc>> m_by_path;
};

// One source on its way through the compiler.
class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& nvrtc, const std::string& source, const std::string& file,
               const std::map<std::string, std::string>& headers);
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;
  NvrtcProgram(NvrtcProgram&& other) noexcept
      : m_functions(other.m_functions), m_program(std::exchange(other.m_program, nullptr)) {}
  ~NvrtcProgram();

  // Asks for the lowered name of `expression`, instantiating it if it is a template.
  void add_name_expression(const std::string& expression);
  // False: the source or an option was refused, and `log` says why.
  [[nodiscard]] bool compile(const std::vector<std::string>& options);
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::string ptx() const;
  [[nodiscard]] std::vector<std::uint8_t> cubin() const;
  [[nodiscard]] std::string lowered_name(const std::string& expression) const;

 private:
  using Sizer = NvrtcFunctions::Result (*)(NvrtcFunctions::Handle, std::size_t*);
  using Getter = NvrtcFunctions::Result (*)(NvrtcFunctions::Handle, char*);
  [[nodiscard]] std::string fetch(Sizer size, Getter get, const char* what) const;

  const NvrtcFunctions& m_functions;
  NvrtcFunctions::Handle m_program = nullptr;
};

}  // namespace cudaopt::compile
