// The compiler itself checks that each entry has the declared type: static assertions appended to
// the source, and their failures turned back into a sentence about a parameter.
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "protocol/request.hpp"

namespace cudaopt::compile {

// C++ to append to the source. Line numbers and the file name of what precedes it stay right.
[[nodiscard]] std::string signature_check(const std::vector<protocol::EntrySpec>& entries);

// Whether the message is about text that `signature_check` made.
[[nodiscard]] bool is_about_signature_check(const Diagnostic& diagnostic);

// One error per entry whose type is not the declared one, at the line in `source` that seems to
// declare it (0 if none does). Empty: no message says so.
[[nodiscard]] std::vector<Diagnostic> signature_errors(
    const std::vector<Diagnostic>& diagnostics, const std::vector<protocol::EntrySpec>& entries,
    const std::string& source, const std::string& file);

// The line of the `__global__` function that `entry` names, from the look of the text; 0: not
// found.
[[nodiscard]] int line_declaring(const std::string& entry, const std::string& source);

}  // namespace cudaopt::compile
