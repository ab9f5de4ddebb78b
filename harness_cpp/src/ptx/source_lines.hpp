// From an instruction's `.loc` to lines a person knows: the user's own files first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "ptx/module.hpp"

namespace cudaopt::ptx {

// The line of the instruction, then those it was inlined from, outward. Lines in `user_file` carry
// that name however the compiler spelled it; compiler-made lines (number 0) are left out.
[[nodiscard]] std::vector<SourcePoint> source_chain(const Module& module, std::int32_t location,
                                                    const std::string& user_file);

struct SourceLines {
  std::optional<SourcePoint> at;
  std::vector<SourcePoint> inlined_from;  // outward from `at`
};

// Begins at the innermost line in the user's file or a header of his; at the innermost line of all
// if none is there.
[[nodiscard]] SourceLines user_lines(const Module& module, std::int32_t location,
                                     const std::string& user_file);

}  // namespace cudaopt::ptx
