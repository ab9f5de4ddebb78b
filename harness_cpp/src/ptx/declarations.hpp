// What a declaration says: types and sizes, variables with their initial bytes, parameter lists.
// Used at module scope and in bodies; knows nothing of instructions.
#pragma once

#include <optional>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

namespace cudaopt::ptx {

// Bytes of a fundamental type without its dot ("u64", "f16x2"); nullopt if it is none.
[[nodiscard]] std::optional<std::uint32_t> type_bytes(std::string_view type);

// The space a directive names (".shared"); nullopt if it is none.
[[nodiscard]] std::optional<Space> declared_space(std::string_view directive);

// `.align 8 .v2 .f32`, in any order PTX allows, with the qualifiers that do not matter here.
struct DeclaredType {
  std::string_view name;  // "f32"
  std::uint32_t element_bytes = 0;
  std::uint32_t vector_width = 1;
  std::uint32_t alignment = 0;  // of the variable: written, or natural
};

[[nodiscard]] DeclaredType parse_type(Lexer& lexer);

struct DeclaredVariable {
  std::string_view written;  // its name, in the text
  Variable variable;
};

// Everything after the space: `.align 4 .b8 a[16] = {1, 2}, b;` up to and with the ';'.
[[nodiscard]] std::vector<DeclaredVariable> parse_variables(Lexer& lexer, Space space,
                                                            bool external);

// `(.param .u64 .ptr .align 1 a, .param .align 4 .b8 b[16])`, parentheses included.
[[nodiscard]] std::vector<Parameter> parse_parameters(Lexer& lexer);

// Size of the block that holds the parameters, whose offsets it sets. `line` is for the message.
std::uint32_t lay_out_parameters(std::vector<Parameter>& parameters, int line);

// What follows `.pragma`: strings up to and with the ';'. None changes what code does.
void skip_pragma(Lexer& lexer);

}  // namespace cudaopt::ptx
