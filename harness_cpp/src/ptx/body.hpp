// A function's body, from its '{' to its '}'.
#pragma once

#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/location_table.hpp"
#include "ptx/module.hpp"
#include "ptx/operands.hpp"
#include "ptx/scopes.hpp"

namespace cudaopt::ptx {

class BodyParser {
 public:
  BodyParser(Lexer& lexer, LocationTable& locations, Function& function)
      : m_lexer(lexer),
        m_locations(locations),
        m_function(function),
        m_scopes(function),
        m_operands(lexer, m_scopes) {}

  void parse();

 private:
  // A branch whose labels may stand below it.
  struct Branch {
    std::size_t instruction = 0;
    ScopeId scope = 0;
    int line = 0;
  };

  void parse_statement();
  void parse_directive();
  void parse_registers();
  void parse_variables(Space space);
  void parse_label(const Token& name);
  void parse_targets(const Token& name);
  void parse_prototype(const Token& name);
  void parse_instruction(const Token& first);
  void parse_modifiers(Instruction& instruction);
  void resolve(const Branch& branch);
  [[nodiscard]] Operand label_operand(const Branch& branch, std::string_view name) const;

  Lexer& m_lexer;
  LocationTable& m_locations;
  Function& m_function;
  Scopes m_scopes;
  OperandParser m_operands;
  std::vector<Branch> m_branches;
  std::int32_t m_location = -1;
};

}  // namespace cudaopt::ptx
