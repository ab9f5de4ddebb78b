#include "ptx/literal.hpp"

#include <charconv>
#include <cstring>

#include "ptx/parser.hpp"

namespace cudaopt::ptx {

namespace {

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

[[noreturn]] void fail(const Token& number, const char* expected) {
  throw ParseError(number.line, std::string("expected ") + expected + ", got '" +
                                    std::string(number.text.substr(0, 40)) + "'");
}

std::uint64_t parse_digits(const Token& number, std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end) fail(number, "an integer of at most 64 bits");
  return value;
}

Literal parse_hex_float(const Token& number, std::uint8_t width) {
  const std::string_view digits = number.text.substr(2);
  if (digits.size() != width / 4u)
    fail(number, width == 32 ? "0f and 8 hexadecimal digits" : "0d and 16 hexadecimal digits");
  return {parse_digits(number, digits, 16), width, false};
}

Literal parse_decimal_float(const Token& number) {
  double value = 0;
  const char* end = number.text.data() + number.text.size();
  const auto [stop, error] = std::from_chars(number.text.data(), end, value);
  if (error != std::errc() || stop != end) fail(number, "a decimal floating-point number");
  return {bits_as<std::uint64_t>(value), 64, true};
}

Literal parse_integer(const Token& number) {
  std::string_view digits = number.text;
  if (digits.back() == 'U' || digits.back() == 'u') digits.remove_suffix(1);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    digits.remove_prefix(base == 8 ? 1 : 2);
  }
  return {parse_digits(number, digits, base), 0, false};
}

}  // namespace

Literal parse_literal(const Token& number) {
  const std::string_view text = number.text;
  const char kind = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : ' ';
  if (kind == 'f') return parse_hex_float(number, 32);
  if (kind == 'd') return parse_hex_float(number, 64);
  if (kind != 'x' && text.find_first_of(".eE") != std::string_view::npos)
    return parse_decimal_float(number);
  return parse_integer(number);
}

Literal negate(Literal literal) {
  if (literal.float_width == 0)
    literal.bits = ~literal.bits + 1;
  else
    literal.bits ^= std::uint64_t{1} << (literal.float_width - 1);
  return literal;
}

Literal convert_literal(const Literal& literal, std::string_view type) {
  if (type != "f32" && type != "f64") return literal;
  const std::uint8_t width = type == "f32" ? 32 : 64;
  if (literal.float_width == width) return literal;
  double value = 0;
  if (literal.float_width == 0)
    value = static_cast<double>(static_cast<std::int64_t>(literal.bits));
  else if (literal.float_width == 32)
    value = static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(literal.bits)));
  else
    value = bits_as<double>(literal.bits);
  if (width == 64) return {bits_as<std::uint64_t>(value), 64, false};
  return {bits_as<std::uint32_t>(static_cast<float>(value)), 32, false};
}

std::uint64_t expect_count(Lexer& lexer, std::string_view what, std::uint64_t limit) {
  const Token number = lexer.expect(TokenKind::number, what);
  const Literal literal = parse_literal(number);
  if (literal.float_width != 0 || literal.bits > limit)
    throw ParseError(number.line, "expected " + std::string(what) + " of at most " +
                                      std::to_string(limit) + ", got '" +
                                      std::string(number.text.substr(0, 40)) + "'");
  return literal.bits;
}

}  // namespace cudaopt::ptx
