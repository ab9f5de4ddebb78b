#include "ptx/location_table.hpp"

#include "ptx/literal.hpp"

namespace cudaopt::ptx {

namespace {

std::uint32_t parse_part(Lexer& lexer, std::string_view what) {
  return static_cast<std::uint32_t>(expect_count(lexer, what, UINT32_MAX));
}

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> parse_place(Lexer& lexer) {
  const std::uint32_t file = parse_part(lexer, "a file number");
  const std::uint32_t line = parse_part(lexer, "a line number");
  return {file, line, parse_part(lexer, "a column number")};
}

}  // namespace

std::int32_t LocationTable::parse(Lexer& lexer) {
  const Place place = parse_place(lexer);
  std::int32_t inlined_at = -1;
  while (lexer.accept(',')) {
    if (lexer.accept("function_name")) {
      (void)lexer.expect(TokenKind::word, "a label in .debug_str");
      if (lexer.accept('+')) parse_part(lexer, "an offset");
    } else if (lexer.accept("inlined_at")) {
      inlined_at = call_site(parse_place(lexer));
    } else {
      lexer.fail("function_name or inlined_at");
    }
  }
  return add(place, inlined_at);
}

std::int32_t LocationTable::call_site(const Place& place) {
  const auto known = m_latest.find(place);
  return known == m_latest.end() ? add(place, -1) : known->second;
}

std::int32_t LocationTable::add(const Place& place, std::int32_t inlined_at) {
  const auto [file, line, column] = place;
  m_locations.push_back({file, line, column, inlined_at});
  const auto index = static_cast<std::int32_t>(m_locations.size() - 1);
  m_latest[place] = index;
  return index;
}

}  // namespace cudaopt::ptx
