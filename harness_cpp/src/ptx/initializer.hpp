// The initial bytes of a variable: `= {1, 2}`, `= 0f3F800000`, `= {f, generic(x)+4}`.
#pragma once

#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

namespace cudaopt::ptx {

inline constexpr std::size_t kMaxDimensions = 8;

struct ArrayShape {
  std::string_view type;  // of one element
  std::uint32_t element_bytes = 0;
  std::vector<std::uint64_t> dimensions;  // outermost first; none: a scalar; 0: not known yet

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t bytes_below(std::size_t level) const;  // of one entry of that level
};

// What follows '='. Fills `initial` and `references`; gives a first dimension of 0 its size. Values
// left out are zero, as in C.
void parse_initializer(Lexer& lexer, ArrayShape& shape, Variable& variable);

}  // namespace cudaopt::ptx
