#include "compile/type_alternatives.hpp"

#include <algorithm>

namespace cudaopt::compile {

std::string quoted(const TypeAlternatives& types) {
  constexpr std::size_t kNamed = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, types.size()); ++i) {
    text += (i == 0 ? "'" : " or '") + types[i] + "'";
  }
  return text;
}

}  // namespace cudaopt::compile
