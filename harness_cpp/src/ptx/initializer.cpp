#include "ptx/initializer.hpp"

#include <algorithm>

#include "ptx/literal.hpp"
#include "ptx/parser.hpp"

namespace cudaopt::ptx {

namespace {

// Text of a few bytes must not make us allocate gigabytes.
constexpr std::uint64_t kMaxInitializedBytes = std::uint64_t{1} << 26;

class InitializerParser {
 public:
  InitializerParser(Lexer& lexer, const ArrayShape& shape, Variable& variable)
      : m_lexer(lexer), m_shape(shape), m_variable(variable) {}

  // One list, whose entries begin at `offset`: sub-lists, or plain values filling all of it.
  void list(std::size_t level, std::uint64_t offset) {
    if (level == m_shape.dimensions.size()) m_lexer.fail("a value");
    m_lexer.expect('{', "before an array's values");
    if (m_lexer.accept('}')) return;
    const std::uint64_t entry_bytes = m_shape.bytes_below(level);
    const std::uint64_t entries = m_shape.dimensions[level];
    const bool open_ended = level == 0 && entries == 0;
    const std::uint64_t end = open_ended ? kMaxInitializedBytes : offset + entries * entry_bytes;
    std::uint64_t position = offset;
    do {
      const bool nested = m_lexer.peek().is('{');
      const std::uint64_t next = position + (nested ? entry_bytes : m_shape.element_bytes);
      if (next > end) m_lexer.fail("no more values for '" + m_variable.name + "'");
      if (nested)
        list(level + 1, position);
      else
        value(position);
      position = next;
    } while (m_lexer.accept(','));
    m_lexer.expect('}', "after an array's values");
  }

  void value(std::uint64_t offset) {
    const std::uint64_t end = offset + m_shape.element_bytes;
    if (end > kMaxInitializedBytes) m_lexer.fail("fewer initialised bytes");
    if (m_variable.initial.size() < end) m_variable.initial.resize(end);
    if (m_lexer.peek().kind == TokenKind::word)
      reference(offset);
    else
      number(offset);
  }

 private:
  void number(std::uint64_t offset) {
    const bool negative = m_lexer.accept('-');
    Literal literal = parse_literal(m_lexer.expect(TokenKind::number, "a value"));
    if (m_lexer.peek().is('('))
      m_lexer.fail("a whole address (masked addresses are not supported)");
    if (negative) literal = negate(literal);
    const std::uint64_t bits = convert_literal(literal, m_shape.type).bits;
    const std::uint32_t bytes = std::min<std::uint32_t>(m_shape.element_bytes, 8);
    for (std::uint32_t i = 0; i < bytes; ++i)
      m_variable.initial[offset + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }

  void reference(std::uint64_t offset) {
    SymbolReference reference;
    reference.offset = offset;
    reference.generic = m_lexer.accept("generic");
    if (reference.generic) m_lexer.expect('(', "after 'generic'");
    reference.symbol = std::string(m_lexer.expect(TokenKind::word, "a symbol").text);
    if (reference.generic) m_lexer.expect(')', "after a generic address");
    while (m_lexer.peek().is('+') || m_lexer.peek().is('-')) {
      bool negative = m_lexer.next().is('-');
      if (m_lexer.accept('-')) negative = !negative;
      Literal addend = parse_literal(m_lexer.expect(TokenKind::number, "an offset"));
      if (negative) addend = negate(addend);
      reference.addend =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(reference.addend) + addend.bits);
    }
    if (m_shape.element_bytes < 4) m_lexer.fail("a type of 4 or 8 bytes for an address");
    m_variable.references.push_back(std::move(reference));
  }

  Lexer& m_lexer;
  const ArrayShape& m_shape;
  Variable& m_variable;
};

}  // namespace

std::uint64_t ArrayShape::bytes() const {
  return dimensions.empty() ? element_bytes : dimensions.front() * bytes_below(0);
}

std::uint64_t ArrayShape::bytes_below(std::size_t level) const {
  std::uint64_t bytes = element_bytes;
  for (std::size_t i = level + 1; i < dimensions.size(); ++i) bytes *= dimensions[i];
  return bytes;
}

void parse_initializer(Lexer& lexer, ArrayShape& shape, Variable& variable) {
  const int line = lexer.peek().line;
  InitializerParser parser(lexer, shape, variable);
  if (lexer.peek().is('{'))
    parser.list(0, 0);
  else
    parser.value(0);
  if (!shape.dimensions.empty() && shape.dimensions.front() == 0) {
    const std::uint64_t row = std::max<std::uint64_t>(shape.bytes_below(0), 1);
    shape.dimensions.front() = (variable.initial.size() + row - 1) / row;
  }
  if (shape.bytes() > kMaxInitializedBytes)
    throw ParseError(line, "expected at most " + std::to_string(kMaxInitializedBytes) +
                               " initialised bytes, got " + std::to_string(shape.bytes()));
  variable.initial.resize(shape.bytes());
}

}  // namespace cudaopt::ptx
