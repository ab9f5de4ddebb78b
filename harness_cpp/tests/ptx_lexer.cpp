#include "check.hpp"
#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"

using cudaopt::ptx::Lexer;
using cudaopt::ptx::ParseError;
using cudaopt::ptx::Token;
using cudaopt::ptx::TokenKind;

namespace {

std::string joined(std::string_view text) {
  Lexer lexer(text);
  std::string words;
  while (lexer.peek().kind != TokenKind::end) words += std::string(lexer.next().text) + " ";
  return words;
}

}  // namespace

TEST("an instruction is cut into opcode, modifiers and operands") {
  CHECK_EQUAL("@ ! %p1 ld .shared::cta .v2 .f32 { %f1 , _ } , [ $str$1 + - 4 ] ; ",
              joined("@!%p1 ld.shared::cta.v2.f32 {%f1, _}, [$str$1+-4];"));
}

TEST("a modifier may begin with a digit and a label keeps its single colon") {
  CHECK_EQUAL("L0 : cp .2d .L2::128B ; ", joined("L0: cp.2d.L2::128B;"));
}

TEST("numbers keep prefix, suffix, fraction and exponent") {
  CHECK_EQUAL("0x1fU 0f3F800000 1.5e-3 9.5 7 - 4 ", joined("0x1fU 0f3F800000 1.5e-3 9.5 7-4"));
}

TEST("comments of both kinds separate tokens and count lines") {
  Lexer lexer("a // one\n/* two\n three */ b");
  CHECK_EQUAL(1, lexer.next().line);
  CHECK_EQUAL("b", lexer.peek().text);
  CHECK_EQUAL(3, lexer.peek().line);
}

TEST("a string keeps what would end a token") {
  Lexer lexer("\"a, b; // c\";");
  const Token token = lexer.next();
  CHECK(token.kind == TokenKind::string);
  CHECK_EQUAL("a, b; // c", token.text);
  CHECK(lexer.peek().is(';'));
}

TEST("text since a token ends before the blanks of the next") {
  Lexer lexer("add.s32 \t%r1, 2 \n;");
  const Token first = lexer.next();
  while (!lexer.peek().is(';')) lexer.next();
  CHECK_EQUAL("add.s32 \t%r1, 2", lexer.since(first));
}

TEST("a skipped section may hold braces and anything that is a token") {
  Lexer lexer("{ .b8 1,2\n { x } $L__info: } after");
  lexer.skip_braces();
  CHECK_EQUAL("after", lexer.peek().text);
}

TEST("what cannot be a token is a ParseError with its line") {
  for (const char* text : {"\n`", "\n\"open", "\n/* open", "\n\x80", "\n{ open"}) {
    int line = 0;
    try {
      Lexer lexer(text);
      lexer.skip_braces();
    } catch (const ParseError& error) {
      line = error.line();
    }
    CHECK_EQUAL(2, line);
  }
}

TEST("a failed expectation names both sides") {
  Lexer lexer("x");
  std::string message;
  try {
    lexer.expect(';', "after an instruction");
  } catch (const ParseError& error) {
    message = error.what();
  }
  CHECK_EQUAL("PTX line 1: expected ';' after an instruction, got 'x'", message);
}
