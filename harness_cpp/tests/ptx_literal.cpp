#include "check.hpp"
#include "ptx/literal.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

Literal literal(std::string_view text) {
  Lexer lexer(text);
  return parse_literal(lexer.next());
}

}  // namespace

TEST("integers of every base have the value they show") {
  struct Row {
    const char* text;
    std::uint64_t value;
  };
  const Row rows[] = {
      {"0", 0},    {"42", 42}, {"0x1F", 31},  {"0xffffffffffffffff", ~0ull},   {"0b101", 5},
      {"017", 15}, {"4U", 4},  {"0x10U", 16}, {"18446744073709551615", ~0ull}, {"0b11u", 3}};
  for (const Row& row : rows) {
    CHECK_EQUAL(row.value, literal(row.text).bits);
    CHECK_EQUAL(0, int{literal(row.text).float_width});
  }
}

TEST("floats in hexadecimal are bits of 32 or 64") {
  CHECK_EQUAL(0x3f800000u, literal("0f3F800000").bits);
  CHECK_EQUAL(32, int{literal("0F3f800000").float_width});
  CHECK_EQUAL(0x3ff0000000000000u, literal("0d3FF0000000000000").bits);
  CHECK_EQUAL(64, int{literal("0D3FF0000000000000").float_width});
}

TEST("a decimal float becomes what its use asks for") {
  const Literal half = literal("0.5");
  CHECK(half.decimal);
  CHECK_EQUAL(0x3f000000u, convert_literal(half, "f32").bits);
  CHECK_EQUAL(0x3fe0000000000000u, convert_literal(half, "f64").bits);
  CHECK_EQUAL(0x447a0000u, convert_literal(literal("1e3"), "f32").bits);
}

TEST("a literal of a bit type keeps its bits") {
  CHECK_EQUAL(0x3f800000u, convert_literal(literal("0f3F800000"), "b32").bits);
  CHECK_EQUAL(7u, convert_literal(literal("7"), "u32").bits);
  CHECK_EQUAL(0x40e00000u, convert_literal(literal("7"), "f32").bits);
}

TEST("a sign is two's complement for integers and a bit for floats") {
  CHECK_EQUAL(~0ull, negate(literal("1")).bits);
  CHECK_EQUAL(0xbf800000u, negate(literal("0f3F800000")).bits);
  CHECK_EQUAL(0x8000000000000000u, negate(literal("0d0000000000000000")).bits);
}

TEST("malformed numbers are ParseErrors") {
  for (const char* text : {"0f3F80000", "0d3FF0", "0x", "0b2", "08", "12q", "1.5.5", "1e",
                           "18446744073709551616", "0f3F80000G"})
    CHECK_THROWS(ParseError, literal(text));
}

TEST("a count refuses floats, signs and values over its limit") {
  for (const char* text : {"1.5", "-1", "11", "x"}) {
    Lexer lexer(text);
    CHECK_THROWS(ParseError, expect_count(lexer, "a count", 10));
  }
  Lexer lexer("10");
  CHECK_EQUAL(10u, expect_count(lexer, "a count", 10));
}
