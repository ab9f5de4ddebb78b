// A module of a request to PTX, cubin, resource usage and names.
#pragma once

#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "device.hpp"
#include "protocol/request.hpp"

namespace cudaopt::compile {

struct Compilation {
  CompiledModule module;
  std::vector<Diagnostic> diagnostics;  // warnings and notes
  std::string cubin_sha256;             // the same for sources that differ in comments only
};

// `source` is the text of `spec`. Faults: compile_error with its diagnostics, unknown_entry.
[[nodiscard]] Compilation compile_module(const Nvrtc& nvrtc, const protocol::ModuleSpec& spec,
                                         const std::string& source);

// The names of the entries in PTX text.
[[nodiscard]] std::vector<std::string> entries_of(const std::string& ptx);

}  // namespace cudaopt::compile
