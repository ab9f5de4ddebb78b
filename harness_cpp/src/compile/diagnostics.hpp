// What the compiler said, as data: file, line, column, severity and text of each message.
#pragma once

#include <string>
#include <vector>

#include "device.hpp"

namespace cudaopt::compile {

// The `file` of messages about the end of the source, for which the compiler gives no line.
inline constexpr const char* kEndOfSource = "At end of source";

// Messages of NVRTC's front end and of the driver, in the log's order. Those of ptxas are not among
// them: `ptxas_report` reads those. Line and column are 0 where the compiler gives none.
[[nodiscard]] std::vector<Diagnostic> parse_diagnostics(const std::string& log);

[[nodiscard]] bool is_error(const Diagnostic& diagnostic);

// "softmax.cu:7:3: identifier "foo" is undefined (and 2 more errors)".
[[nodiscard]] std::string summary_of(const std::vector<Diagnostic>& diagnostics);

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

}  // namespace cudaopt::compile
