// Numbers as PTX writes them: 12, -0x1fU, 0b101, 017, 0f3F800000, 0d3FF0000000000000, 1.5.
#pragma once

#include <cstdint>

#include "ptx/lexer.hpp"

namespace cudaopt::ptx {

struct Literal {
  std::uint64_t bits = 0;        // two's complement, or the bits of the float
  std::uint8_t float_width = 0;  // 0: integer; 32 or 64
  bool decimal = false;          // 1.5: a double that becomes whatever its use asks for
};

[[nodiscard]] Literal parse_literal(const Token& number);

// The same with the sign the tokens before it gave.
[[nodiscard]] Literal negate(Literal literal);

// The literal as a value of `type` ("f32", "f64": converted; other types keep their bits).
[[nodiscard]] Literal convert_literal(const Literal& literal, std::string_view type);

// Takes a number without sign or fraction, at most `limit`.
[[nodiscard]] std::uint64_t expect_count(Lexer& lexer, std::string_view what, std::uint64_t limit);

}  // namespace cudaopt::ptx
