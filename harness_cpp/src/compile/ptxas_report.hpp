// What ptxas said: resource usage of each entry, and errors traced back to the CUDA source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device.hpp"

namespace cudaopt::compile {

// By mangled entry name, from the lines that `-Xptxas -v` adds to the log.
[[nodiscard]] std::map<std::string, Resources> parse_resources(const std::string& log);

// Errors and warnings of ptxas. Where it names a line of PTX, `ptx` (built with -lineinfo, line for
// line the text ptxas read) gives the line of CUDA source.
[[nodiscard]] std::vector<Diagnostic> parse_ptxas_messages(const std::string& log,
                                                           const std::string& ptx);

// Whether a message names a line of PTX, so that the line numbers of `ptx` matter.
[[nodiscard]] bool names_ptx_lines(const std::string& log);

}  // namespace cudaopt::compile
