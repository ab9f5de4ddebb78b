#include "ptx/body.hpp"

#include <optional>

#include "ptx/declarations.hpp"
#include "ptx/literal.hpp"
#include "ptx/parser.hpp"

namespace cudaopt::ptx {

namespace {

std::optional<RegisterClass> register_class(std::string_view type) {
  if (type == "pred") return RegisterClass::predicate;
  const auto bytes = type_bytes(type);
  if (!bytes) return std::nullopt;
  if (*bytes <= 2) return RegisterClass::b16;
  if (*bytes == 4) return RegisterClass::b32;
  return *bytes == 8 ? RegisterClass::b64 : RegisterClass::b128;
}

}  // namespace

void BodyParser::parse() {
  m_locations.start_function();
  m_lexer.expect('{', "before a function's body");
  for (const Parameter& parameter : m_function.parameters) m_scopes.declare_symbol(parameter.name);
  for (const Parameter& parameter : m_function.results) m_scopes.declare_symbol(parameter.name);
  while (true) {
    if (m_lexer.peek().kind == TokenKind::end) m_lexer.fail("'}' after a function's body");
    if (m_lexer.accept('}')) {
      if (!m_scopes.close()) break;
    } else {
      parse_statement();
    }
  }
  for (const Branch& branch : m_branches) resolve(branch);
}

void BodyParser::parse_statement() {
  if (m_lexer.peek().is('{')) {
    if (!m_scopes.open()) m_lexer.fail("fewer nested scopes");
    m_lexer.next();
    return;
  }
  if (m_lexer.accept(';')) return;
  if (m_lexer.peek().kind == TokenKind::dotted) return parse_directive();
  const Token first = m_lexer.next();
  if (first.kind == TokenKind::word && m_lexer.accept(':')) return parse_label(first);
  parse_instruction(first);
}

void BodyParser::parse_directive() {
  if (m_lexer.accept(".loc")) {
    m_location = m_locations.parse(m_lexer);
  } else if (m_lexer.accept(".reg")) {
    parse_registers();
  } else if (m_lexer.accept(".pragma")) {
    skip_pragma(m_lexer);
  } else if (const auto space = declared_space(m_lexer.peek().text)) {
    m_lexer.next();
    parse_variables(*space);
  } else {
    m_lexer.fail("a directive of a function's body");
  }
}

void BodyParser::parse_registers() {
  const Token type = m_lexer.expect(TokenKind::dotted, "a register's type");
  const auto registers = register_class(type.text.substr(1));
  if (!registers)
    throw ParseError(type.line, "expected the type of a register such as .b32, got '" +
                                    std::string(type.text) + "'");
  do {
    const Token name = m_lexer.expect(TokenKind::word, "a register's name");
    if (m_lexer.accept('<')) {
      m_scopes.declare_registers(
          name.text, expect_count(m_lexer, "a number of registers", UINT32_MAX), *registers);
      m_lexer.expect('>', "after a number of registers");
    } else {
      m_scopes.declare_register(name.text, *registers);
    }
  } while (m_lexer.accept(','));
  m_lexer.expect(';', "after registers");
}

void BodyParser::parse_variables(Space space) {
  for (DeclaredVariable& declared : ptx::parse_variables(m_lexer, space, false)) {
    declared.variable.name = m_scopes.declare_symbol(declared.written);
    m_function.variables.push_back(std::move(declared.variable));
  }
}

void BodyParser::parse_label(const Token& name) {
  if (m_lexer.peek().is(".branchtargets")) return parse_targets(name);
  if (m_lexer.peek().is(".callprototype")) return parse_prototype(name);
  if (m_lexer.accept(".calltargets")) {
    while (!m_lexer.accept(';')) {
      if (m_lexer.peek().kind == TokenKind::end) m_lexer.fail("';' after .calltargets");
      m_lexer.next();
    }
    return;
  }
  const auto target = static_cast<std::int32_t>(m_function.instructions.size());
  if (!m_scopes.define_label(name.text, target))
    throw ParseError(name.line, "expected a new label, got '" + std::string(name.text) +
                                    "', which this scope defines twice");
}

void BodyParser::parse_targets(const Token& name) {
  m_lexer.next();
  std::vector<std::string_view> labels;
  do {
    labels.push_back(m_lexer.expect(TokenKind::word, "a label").text);
  } while (m_lexer.accept(','));
  m_lexer.expect(';', "after .branchtargets");
  m_scopes.define_targets(name.text, std::move(labels));
}

void BodyParser::parse_prototype(const Token& name) {
  m_lexer.next();
  CallPrototype prototype;
  if (m_lexer.peek().is('(')) prototype.results = parse_parameters(m_lexer);
  (void)m_lexer.expect(TokenKind::word, "'_' in a prototype");
  if (m_lexer.peek().is('(')) prototype.parameters = parse_parameters(m_lexer);
  (void)lay_out_parameters(prototype.results, name.line);
  (void)lay_out_parameters(prototype.parameters, name.line);
  while (m_lexer.peek().kind == TokenKind::dotted) m_lexer.next();  // .noreturn
  m_lexer.expect(';', "after a prototype");
  prototype.name = m_scopes.declare_symbol(name.text);
  m_function.prototypes.push_back(std::move(prototype));
}

void BodyParser::parse_instruction(const Token& first) {
  Instruction instruction;
  Token opcode = first;
  if (first.is('@')) {
    m_operands.parse_guard(instruction);
    opcode = m_lexer.expect(TokenKind::word, "an instruction after its guard");
  } else if (first.kind != TokenKind::word) {
    throw ParseError(first.line, "expected an instruction, got '" + std::string(first.text) + "'");
  }
  instruction.opcode = opcode.text;
  instruction.location = m_location;
  parse_modifiers(instruction);
  m_operands.parse(instruction);
  instruction.text = m_lexer.since(first);
  m_lexer.expect(';', "after an instruction");
  if (instruction.opcode == "bra" || instruction.opcode == "brx")
    m_branches.push_back({m_function.instructions.size(), m_scopes.current(), opcode.line});
  m_function.instructions.push_back(std::move(instruction));
}

void BodyParser::parse_modifiers(Instruction& instruction) {
  while (m_lexer.peek().kind == TokenKind::dotted)
    instruction.modifiers.push_back(m_lexer.next().text.substr(1));
}

void BodyParser::resolve(const Branch& branch) {
  Instruction& instruction = m_function.instructions[branch.instruction];
  std::vector<Operand>& operands = instruction.operands;
  const bool table = instruction.opcode == "brx";
  if (operands.size() != (table ? 2u : 1u) || operands.back().name.empty())
    throw ParseError(branch.line,
                     "expected a label to branch to, got '" + instruction.readable_text() + "'");
  const std::string name = operands.back().name;
  if (!table) {
    operands.back() = label_operand(branch, name);
    return;
  }
  const auto* targets = m_scopes.targets(branch.scope, name);
  if (targets == nullptr)
    throw ParseError(branch.line, "expected .branchtargets, got '" + name + "'");
  operands.back() = {};
  operands.back().kind = Operand::Kind::vector;
  for (const std::string_view label : *targets)
    operands.back().elements.push_back(label_operand(branch, label));
}

Operand BodyParser::label_operand(const Branch& branch, std::string_view name) const {
  const auto target = m_scopes.label(branch.scope, name);
  if (!target)
    throw ParseError(branch.line,
                     "expected a label of this function, got '" + std::string(name) + "'");
  Operand operand;
  operand.kind = Operand::Kind::label;
  operand.name = std::string(name);
  operand.target = *target;
  return operand;
}

}  // namespace cudaopt::ptx
