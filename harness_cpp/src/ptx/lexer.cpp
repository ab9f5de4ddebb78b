#include "ptx/lexer.hpp"

#include <array>

#include "ptx/parser.hpp"

namespace cudaopt::ptx {

namespace {

enum class CharacterClass : std::uint8_t { other, blank, letter, digit };

constexpr std::array<CharacterClass, 256> make_classes() {
  std::array<CharacterClass, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = CharacterClass::letter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = CharacterClass::letter;
  for (int c = '0'; c <= '9'; ++c) classes[c] = CharacterClass::digit;
  for (const char c : {'_', '$', '%'}) classes[c] = CharacterClass::letter;
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[c] = CharacterClass::blank;
  return classes;
}

constexpr std::array<CharacterClass, 256> kClasses = make_classes();

CharacterClass class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool in_word(char c) {
  return class_of(c) == CharacterClass::letter || class_of(c) == CharacterClass::digit;
}

std::string quoted(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  constexpr std::size_t kShown = 40;
  const std::string shown(token.text.substr(0, kShown));
  return "'" + shown + (token.text.size() > kShown ? "...'" : "'");
}

}  // namespace

Lexer::Lexer(std::string_view text) : m_text(text) { advance(); }

Token Lexer::next() {
  const Token token = m_next;
  advance();
  return token;
}

bool Lexer::accept(char c) {
  if (!m_next.is(c)) return false;
  advance();
  return true;
}

bool Lexer::accept(std::string_view exact) {
  if (!m_next.is(exact)) return false;
  advance();
  return true;
}

void Lexer::expect(char c, std::string_view where) {
  if (!accept(c)) fail("'" + std::string(1, c) + "' " + std::string(where));
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (m_next.kind != kind) fail(what);
  return next();
}

void Lexer::skip_braces() {
  expect('{', "before a section's contents");
  for (int depth = 1; depth > 0;) {
    if (m_next.kind == TokenKind::end) fail("'}' after a section's contents");
    const Token token = next();
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
  }
}

std::string_view Lexer::since(const Token& first) const {
  const char* end = m_next.text.data();
  while (end > first.text.data() && class_of(end[-1]) == CharacterClass::blank) --end;
  return {first.text.data(), static_cast<std::size_t>(end - first.text.data())};
}

void Lexer::fail(std::string_view expected) const {
  throw ParseError(m_next.line, "expected " + std::string(expected) + ", got " + quoted(m_next));
}

char Lexer::at(std::size_t ahead) const {
  return m_position + ahead < m_text.size() ? m_text[m_position + ahead] : '\0';
}

Token Lexer::cut(TokenKind kind, std::size_t length) {
  const Token token{kind, m_text.substr(m_position, length), m_line};
  m_position += length;
  return token;
}

void Lexer::skip_block_comment() {
  const std::size_t end = m_text.find("*/", m_position + 2);
  if (end == std::string_view::npos) throw ParseError(m_line, "expected '*/' after '/*'");
  for (std::size_t i = m_position; i < end; ++i) m_line += m_text[i] == '\n';
  m_position = end + 2;
}

void Lexer::skip_blanks() {
  while (m_position < m_text.size()) {
    const char c = m_text[m_position];
    if (class_of(c) == CharacterClass::blank) {
      m_line += c == '\n';
      ++m_position;
    } else if (c == '/' && at(1) == '/') {
      const std::size_t end = m_text.find('\n', m_position);
      m_position = end == std::string_view::npos ? m_text.size() : end;
    } else if (c == '/' && at(1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

// A number runs on over letters (0x1fU, 0d3FF...) and takes a fraction and a signed exponent.
std::size_t Lexer::number_length() const {
  std::size_t length = 1;
  const bool prefixed = at(0) == '0' && class_of(at(1)) == CharacterClass::letter;
  while (true) {
    const char c = at(length), before = at(length - 1);
    const bool fraction = c == '.' && !prefixed;
    const bool exponent = (c == '+' || c == '-') && !prefixed && (before == 'e' || before == 'E');
    if (!in_word(c) && !fraction && !exponent) return length;
    ++length;
  }
}

// `.shared::cta` is one word; a single ':' belongs to a label.
std::size_t Lexer::dotted_length() const {
  std::size_t length = 1;
  while (true) {
    if (in_word(at(length))) {
      ++length;
    } else if (at(length) == ':' && at(length + 1) == ':' && in_word(at(length + 2))) {
      length += 2;
    } else {
      return length;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  if (m_position >= m_text.size()) {
    m_next = {TokenKind::end, m_text.substr(m_text.size()), m_line};
    return;
  }
  const char c = m_text[m_position];
  if (class_of(c) == CharacterClass::letter) {
    std::size_t length = 1;
    while (in_word(at(length))) ++length;
    m_next = cut(TokenKind::word, length);
  } else if (class_of(c) == CharacterClass::digit) {
    m_next = cut(TokenKind::number, number_length());
  } else if (c == '.' && in_word(at(1))) {
    m_next = cut(TokenKind::dotted, dotted_length());
  } else if (c == '"') {
    const std::size_t end = m_text.find_first_of("\"\n", m_position + 1);
    if (end == std::string_view::npos || m_text[end] == '\n')
      throw ParseError(m_line, "expected '\"' at the end of a string on the same line");
    ++m_position;
    m_next = cut(TokenKind::string, end - m_position);
    ++m_position;
  } else if (std::string_view("@!|,;:()[]{}<>+-*/=~&^?").find(c) != std::string_view::npos) {
    m_next = cut(TokenKind::punctuation, 1);
  } else {
    throw ParseError(m_line, "expected PTX, got the byte " +
                                 std::to_string(static_cast<unsigned char>(c)) +
                                 ", which is in no token");
  }
}

}  // namespace cudaopt::ptx
