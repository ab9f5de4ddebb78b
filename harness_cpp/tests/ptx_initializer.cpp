#include "check.hpp"
#include "ptx/declarations.hpp"
#include "ptx/initializer.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

Variable variable(std::string_view text) {
  Lexer lexer(text);
  return parse_variables(lexer, Space::global, false).at(0).variable;
}

// Bytes as hexadecimal, in memory order.
std::string initial(std::string_view text) {
  std::string hex;
  for (const std::uint8_t byte : variable(text).initial) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

}  // namespace

TEST("initial values are bytes in memory order") {
  CHECK_EQUAL("04030201", initial(".u32 x = 0x01020304;"));
  CHECK_EQUAL("ffff", initial(".s16 x = -1;"));
  CHECK_EQUAL("0000803f00000040", initial(".f32 x[2] = {0f3F800000, 2.0};"));
  CHECK_EQUAL("000000000000f03f", initial(".f64 x = 1.0;"));
}

TEST("values left out are zero") { CHECK_EQUAL("01020000", initial(".b8 x[4] = {1, 2};")); }

TEST("an array without size takes that of its values") {
  CHECK_EQUAL("0100020003000000", initial(".u16 x[][2] = {{1, 2}, {3}};"));
  CHECK_EQUAL(8u, variable(".u16 x[][2] = {{1, 2}, {3}};").bytes);
}

TEST("rows of a matrix begin where the row before ends, also when that is short") {
  CHECK_EQUAL("010003040506", initial(".b8 x[3][2] = {{1}, {3, 4}, {5, 6}};"));
  CHECK_EQUAL("0102030400", initial(".b8 x[5][1] = {1, 2, 3, 4};"));
}

TEST("addresses stay references") {
  const Variable table = variable(".u64 t[3] = {f, generic(g)+8, h-4};");
  CHECK_EQUAL(3u, table.references.size());
  CHECK_EQUAL("f", table.references[0].symbol);
  CHECK(!table.references[0].generic);
  CHECK_EQUAL("g", table.references[1].symbol);
  CHECK(table.references[1].generic);
  CHECK_EQUAL(8u, table.references[1].offset);
  CHECK_EQUAL(8, table.references[1].addend);
  CHECK_EQUAL(-4, table.references[2].addend);
  CHECK_EQUAL(24u, table.initial.size());
}

TEST("initialisers that do not fit are ParseErrors") {
  for (const char* text :
       {".b8 x[2] = {1, 2, 3};", ".b8 x[2] = {1, 2;", ".b8 x = {1};", ".b8 x[1] = {{1}};",
        ".b8 x[2] = {f, g};", ".b8 x[1] = {0xFF(f)};", ".u32 x = ;", ".u64 x = generic(;",
        ".b8 x[2][2] = {{1, 2}, {3, 4}, {5}};", ".b8 x[2][2] = {{1, 2, 3}};",
        ".b8 x[1000000000] = {1};"})
    CHECK_THROWS(ParseError, variable(text));
}
