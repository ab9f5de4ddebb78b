// The operands of one instruction. Knows their syntax, not what the opcode does with them.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/module.hpp"
#include "ptx/scopes.hpp"

namespace cudaopt::ptx {

class OperandParser {
 public:
  OperandParser(Lexer& lexer, Scopes& scopes) : m_lexer(lexer), m_scopes(scopes) {}

  // Up to, without, the ';'. Opcode and modifiers are set already.
  void parse(Instruction& instruction);
  // A predicate register after '@' or '@!'.
  void parse_guard(Instruction& instruction);

 private:
  void parse_call(Instruction& instruction);
  [[nodiscard]] Operand parse_operand(std::string_view type);
  [[nodiscard]] Operand parse_element(std::string_view type);
  [[nodiscard]] Operand parse_word();
  [[nodiscard]] Operand parse_number(bool negative, std::string_view type);
  [[nodiscard]] Operand parse_vector(std::string_view type);
  [[nodiscard]] Operand parse_address();
  [[nodiscard]] std::int64_t parse_displacement();
  [[nodiscard]] Operand parse_call_list();

  Lexer& m_lexer;
  Scopes& m_scopes;
};

}  // namespace cudaopt::ptx
