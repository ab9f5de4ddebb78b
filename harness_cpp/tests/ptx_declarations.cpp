#include "check.hpp"
#include "ptx/declarations.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

std::vector<DeclaredVariable> variables(std::string_view text, bool external = false) {
  Lexer lexer(text);
  return parse_variables(lexer, Space::global, external);
}

Variable variable(std::string_view text) { return variables(text).at(0).variable; }

std::vector<Parameter> parameters(std::string_view text) {
  Lexer lexer(text);
  std::vector<Parameter> list = parse_parameters(lexer);
  CHECK(lexer.peek().kind == TokenKind::end);
  return list;
}

}  // namespace

TEST("a variable has the size of its array and the alignment of its type") {
  const Variable scalar = variable(".f64 x;");
  CHECK_EQUAL(8u, scalar.bytes);
  CHECK_EQUAL(8u, scalar.alignment);
  const Variable array = variable(".align 16 .b8 table[3][5];");
  CHECK_EQUAL("table", array.name);
  CHECK_EQUAL(15u, array.bytes);
  CHECK_EQUAL(16u, array.alignment);
  const Variable vectors = variable(".v4 .f32 v[2];");
  CHECK_EQUAL(32u, vectors.bytes);
  CHECK_EQUAL(16u, vectors.alignment);
}

TEST("one declaration may name several variables") {
  const auto list = variables(".u32 a, b[2];");
  CHECK_EQUAL(2u, list.size());
  CHECK_EQUAL("b", list[1].written);
  CHECK_EQUAL(8u, list[1].variable.bytes);
}

TEST("an external array without size has no bytes") {
  const auto list = variables(".align 16 .b8 dynamic[];", true);
  CHECK(list[0].variable.external);
  CHECK_EQUAL(0u, list[0].variable.bytes);
}

TEST("attributes are skipped") { CHECK_EQUAL(4u, variable(".attribute(.managed) .u32 m;").bytes); }

TEST("parameters are laid out at their alignment") {
  auto list = parameters(
      "(.param .u32 n, .param .u64 .ptr .global .align 4 p,"
      " .param .align 4 .b8 s[12], .param .f64 x)");
  CHECK_EQUAL(40u, lay_out_parameters(list, 1));
  const std::uint32_t offsets[] = {0, 8, 16, 32}, bytes[] = {4, 8, 12, 8};
  for (int i = 0; i < 4; ++i) {
    CHECK_EQUAL(offsets[i], list[i].offset);
    CHECK_EQUAL(bytes[i], list[i].bytes);
  }
  CHECK_EQUAL("u64", list[1].type);
  CHECK_EQUAL(8u, list[1].alignment);
  CHECK_EQUAL("b8", list[2].type);
}

TEST("a list of parameters may be empty") { CHECK(parameters("()").empty()); }

TEST("sizes that overflow or alignments that are none are ParseErrors") {
  for (const char* text :
       {".b8 a[1099511627777];", ".b64 a[1048576][1048576][1048576];", ".align 3 .b8 a[4];",
        ".align 0 .b8 a[4];", ".b8 a[-1];", ".b7 a;", ".b8 a[4]", ".b8 ;", ".b8 a[2][];", ".v2 a;"})
    CHECK_THROWS(ParseError, variables(text));
  CHECK_THROWS(ParseError, parameters("(.param .b8 a[1048577])"));
}
