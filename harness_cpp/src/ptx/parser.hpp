// PTX text to a Module.
#pragma once

#include <stdexcept>
#include <string>

#include "ptx/module.hpp"

namespace cudaopt::ptx {

// Text that is not PTX as we know it: the line in the PTX and what was expected there.
class ParseError : public std::runtime_error {
 public:
  ParseError(int line, const std::string& message)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + message), m_line(line) {}
  [[nodiscard]] int line() const { return m_line; }

 private:
  int m_line;
};

// Instructions are kept whatever their opcode: an unknown one matters only when it is reached.
[[nodiscard]] Module parse(std::string text);

}  // namespace cudaopt::ptx
