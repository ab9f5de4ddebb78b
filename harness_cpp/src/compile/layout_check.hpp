// The compiler itself checks that structs and variables of a module are as declared: static
// assertions appended to the source, and their failures turned back into a sentence about a member.
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "protocol/request.hpp"

namespace cudaopt::compile {

// C++ to append to the source; empty if nothing is declared.
[[nodiscard]] std::string layout_check(const protocol::ModuleSpec& spec);

// Whether the message is about text that `layout_check` made.
[[nodiscard]] bool is_about_layout_check(const Diagnostic& diagnostic);

// One error per struct or variable that is not as declared, at the line of `source` that seems to
// introduce it (0 if none does).
[[nodiscard]] std::vector<Diagnostic> layout_errors(const std::vector<Diagnostic>& diagnostics,
                                                    const protocol::ModuleSpec& spec,
                                                    const std::string& source);

}  // namespace cudaopt::compile
