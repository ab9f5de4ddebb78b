#include "ptx/operands.hpp"

#include "ptx/literal.hpp"

namespace cudaopt::ptx {

namespace {

constexpr std::uint64_t kWarpSize = 32;

Operand of_kind(Operand::Kind kind) {
  Operand operand;
  operand.kind = kind;
  return operand;
}

}  // namespace

void OperandParser::parse_guard(Instruction& instruction) {
  instruction.guard_negated = m_lexer.accept('!');
  const Token name = m_lexer.peek();
  if (name.kind == TokenKind::word) instruction.guard = m_scopes.find(name.text).reg;
  if (instruction.guard < 0 || !m_scopes.is_predicate(instruction.guard))
    m_lexer.fail("a declared predicate after '@'");
  m_lexer.next();
}

void OperandParser::parse(Instruction& instruction) {
  if (m_lexer.peek().is(';')) return;
  if (instruction.opcode == "call") return parse_call(instruction);
  if (instruction.opcode == "bra" && m_lexer.peek().kind == TokenKind::word) {
    instruction.operands.push_back(of_kind(Operand::Kind::label));
    instruction.operands.back().name = std::string(m_lexer.next().text);
    return;
  }
  const std::string_view type = instruction.type();
  instruction.operands.reserve(4);
  instruction.operands.push_back(parse_operand(type));
  if (m_lexer.accept('|')) {
    instruction.paired = true;
    instruction.operands.push_back(parse_operand(type));
  }
  while (m_lexer.accept(',')) instruction.operands.push_back(parse_operand(type));
}

// call (results), function, (arguments), prototype: each list may be missing.
void OperandParser::parse_call(Instruction& instruction) {
  std::vector<Operand>& operands = instruction.operands;
  operands.push_back(of_kind(Operand::Kind::vector));
  if (m_lexer.peek().is('(')) {
    operands.back() = parse_call_list();
    m_lexer.expect(',', "after a call's results");
  }
  operands.push_back(parse_word());
  operands.push_back(of_kind(Operand::Kind::vector));
  if (!m_lexer.accept(',')) return;
  if (m_lexer.peek().is('(')) {
    operands.back() = parse_call_list();
    if (!m_lexer.accept(',')) return;
  }
  operands.push_back(parse_word());
}

Operand OperandParser::parse_call_list() {
  Operand list = of_kind(Operand::Kind::vector);
  m_lexer.expect('(', "before a call's list");
  if (m_lexer.accept(')')) return list;
  do {
    list.elements.push_back(parse_element({}));
  } while (m_lexer.accept(','));
  m_lexer.expect(')', "after a call's list");
  return list;
}

Operand OperandParser::parse_operand(std::string_view type) {
  if (m_lexer.peek().is('[')) return parse_address();
  if (m_lexer.peek().is('{')) return parse_vector(type);
  if (m_lexer.accept('!')) {
    Operand operand = parse_word();
    operand.negated = true;
    return operand;
  }
  Operand operand = parse_element(type);
  if (operand.kind != Operand::Kind::symbol) return operand;
  // `a[4]` and `a+4` are the address of a variable plus bytes.
  if (m_lexer.accept('[')) {
    operand.offset = static_cast<std::int64_t>(parse_element({}).bits);
    m_lexer.expect(']', "after an offset");
  } else {
    operand.offset = parse_displacement();
  }
  return operand;
}

Operand OperandParser::parse_element(std::string_view type) {
  if (m_lexer.accept('-')) return parse_number(true, type);
  if (m_lexer.peek().kind == TokenKind::number) return parse_number(false, type);
  return parse_word();
}

Operand OperandParser::parse_number(bool negative, std::string_view type) {
  Literal literal = parse_literal(m_lexer.expect(TokenKind::number, "a number"));
  if (negative) literal = negate(literal);
  if (literal.decimal) literal = convert_literal(literal, type);
  Operand operand = of_kind(Operand::Kind::immediate);
  operand.bits = literal.bits;
  operand.float_width = literal.float_width;
  return operand;
}

Operand OperandParser::parse_word() {
  const Token word = m_lexer.expect(TokenKind::word, "an operand");
  if (word.is("_")) return of_kind(Operand::Kind::sink);
  Token part;
  if (m_lexer.peek().kind == TokenKind::dotted && touch(word, m_lexer.peek()))
    part = m_lexer.next();
  const Scopes::Meaning meaning = m_scopes.find(word.text);
  Operand operand;
  if (meaning.reg >= 0) {
    operand.kind = Operand::Kind::reg;
    operand.reg = meaning.reg;
    if (!part.text.empty()) operand.name = std::string(part.text.substr(1));
  } else if (meaning.symbol != nullptr) {
    operand.kind = Operand::Kind::symbol;
    operand.name = *meaning.symbol;
  } else if (word.is("WARP_SZ")) {
    operand.bits = kWarpSize;
  } else {
    operand.kind = word.text.front() == '%' ? Operand::Kind::special : Operand::Kind::symbol;
    operand.name = std::string(word.text) + std::string(part.text);
  }
  return operand;
}

Operand OperandParser::parse_vector(std::string_view type) {
  Operand vector = of_kind(Operand::Kind::vector);
  m_lexer.expect('{', "before a vector");
  do {
    vector.elements.push_back(parse_element(type));
  } while (m_lexer.accept(','));
  m_lexer.expect('}', "after a vector");
  return vector;
}

Operand OperandParser::parse_address() {
  Operand address = of_kind(Operand::Kind::address);
  m_lexer.expect('[', "before an address");
  address.elements.push_back(parse_element({}));
  address.offset = parse_displacement();
  while (m_lexer.accept(','))
    address.elements.push_back(m_lexer.peek().is('{') ? parse_vector({}) : parse_element({}));
  m_lexer.expect(']', "after an address");
  return address;
}

// Any number of `+4`, `-4`, `+-4`, or none.
std::int64_t OperandParser::parse_displacement() {
  std::uint64_t sum = 0;
  while (m_lexer.peek().is('+') || m_lexer.peek().is('-')) {
    bool negative = false;
    while (m_lexer.peek().is('+') || m_lexer.peek().is('-')) negative ^= m_lexer.next().is('-');
    const Literal term = parse_literal(m_lexer.expect(TokenKind::number, "an offset in bytes"));
    sum += negative ? negate(term).bits : term.bits;
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace cudaopt::ptx
