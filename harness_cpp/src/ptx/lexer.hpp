// Cuts PTX text into tokens that point into it. Knows characters, not directives or instructions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cudaopt::ptx {

enum class TokenKind : std::uint8_t {
  end,
  word,         // ld, %r1, $L__BB0_2, _Z3fooi
  dotted,       // .f32, .shared::cta, .2d: with its dot
  number,       // 12, 0x1fU, 0f3F800000, 9.5
  string,       // without its quotes
  punctuation,  // one character
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int line = 1;

  [[nodiscard]] bool is(char c) const {
    return kind == TokenKind::punctuation && text.front() == c;
  }
  [[nodiscard]] bool is(std::string_view exact) const {
    return kind != TokenKind::string && text == exact;
  }
};

// True if nothing, not even a space, stands between the two: `%tid` and `.x`.
[[nodiscard]] inline bool touch(const Token& left, const Token& right) {
  return left.text.data() + left.text.size() == right.text.data();
}

// Gives tokens one by one, with one token of lookahead. Every failure is a ParseError.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  [[nodiscard]] const Token& peek() const { return m_next; }
  Token next();
  bool accept(char c);
  bool accept(std::string_view exact);
  void expect(char c, std::string_view where);
  [[nodiscard]] Token expect(TokenKind kind, std::string_view what);

  // Skips `{ ... }` whose inside is not PTX code, as in `.section`.
  void skip_braces();
  // The text from the token `first` up to, but without, the next token; no trailing blanks.
  [[nodiscard]] std::string_view since(const Token& first) const;
  // "expected WHAT, got the next token", at its line.
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  void advance();
  void skip_blanks();
  void skip_block_comment();
  [[nodiscard]] Token cut(TokenKind kind, std::size_t length);
  [[nodiscard]] std::size_t number_length() const;
  [[nodiscard]] std::size_t dotted_length() const;
  [[nodiscard]] char at(std::size_t ahead) const;

  std::string_view m_text;
  std::size_t m_position = 0;
  int m_line = 1;
  Token m_next;
};

}  // namespace cudaopt::ptx
