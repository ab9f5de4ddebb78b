#include "ptx/declarations.hpp"

#include <algorithm>
#include <utility>

#include "ptx/initializer.hpp"
#include "ptx/literal.hpp"
#include "ptx/parser.hpp"

namespace cudaopt::ptx {

namespace {

// Larger than any device's memory; sizes below it cannot overflow when added.
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40;
constexpr std::uint32_t kMaxParameterBytes = 1u << 20;
constexpr std::uint64_t kMaxAlignment = 1u << 16;

std::uint32_t parse_alignment(Lexer& lexer) {
  const int line = lexer.peek().line;
  const std::uint64_t alignment = expect_count(lexer, "an alignment", kMaxAlignment);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    throw ParseError(line,
                     "expected a power of two as alignment, got " + std::to_string(alignment));
  return static_cast<std::uint32_t>(alignment);
}

void skip_parentheses(Lexer& lexer, std::string_view where) {
  lexer.expect('(', where);
  while (!lexer.accept(')')) {
    if (lexer.peek().kind == TokenKind::end) lexer.fail("')'");
    lexer.next();
  }
}

std::uint32_t parse_vector_width(std::string_view directive) {
  if (directive == ".v2") return 2;
  if (directive == ".v4") return 4;
  return directive == ".v8" ? 8 : 0;
}

// `.ptr .global .align 16` tells what a pointer parameter points to, nothing about the parameter.
void skip_pointer_attributes(Lexer& lexer) {
  if (!lexer.accept(".ptr")) return;
  while (lexer.peek().kind == TokenKind::dotted) {
    if (lexer.accept(".align"))
      parse_alignment(lexer);
    else if (declared_space(lexer.peek().text))
      lexer.next();
    else
      lexer.fail("a space or .align after .ptr");
  }
}

// An empty first dimension (`s[]`) is 0: the initialiser or the launch decides.
std::vector<std::uint64_t> parse_dimensions(Lexer& lexer, std::uint64_t element_bytes) {
  std::vector<std::uint64_t> dimensions;
  std::uint64_t bytes = element_bytes;
  while (lexer.accept('[')) {
    if (dimensions.size() == kMaxDimensions) lexer.fail("no more array dimensions");
    if (dimensions.empty() && lexer.accept(']')) {
      dimensions.push_back(0);
      continue;
    }
    const std::uint64_t limit = kMaxVariableBytes / std::max<std::uint64_t>(bytes, 1);
    dimensions.push_back(expect_count(lexer, "an array dimension", limit));
    bytes *= dimensions.back();
    lexer.expect(']', "after an array dimension");
  }
  return dimensions;
}

DeclaredVariable parse_variable(Lexer& lexer, const DeclaredType& type, Space space,
                                bool external) {
  DeclaredVariable declared;
  declared.written = lexer.expect(TokenKind::word, "a variable's name").text;
  Variable& variable = declared.variable;
  variable.name = std::string(declared.written);
  variable.space = space;
  variable.external = external;
  variable.alignment = type.alignment;
  ArrayShape shape{type.name, type.element_bytes,
                   parse_dimensions(lexer, std::uint64_t{type.element_bytes} * type.vector_width)};
  if (type.vector_width > 1) shape.dimensions.push_back(type.vector_width);
  if (lexer.accept('=')) parse_initializer(lexer, shape, variable);
  variable.bytes = shape.bytes();
  return declared;
}

Parameter parse_parameter(Lexer& lexer) {
  if (!lexer.accept(".param")) lexer.fail(".param before a parameter");
  const DeclaredType type = parse_type(lexer);
  skip_pointer_attributes(lexer);
  Parameter parameter;
  const Token name = lexer.expect(TokenKind::word, "a parameter's name");
  parameter.name = std::string(name.text);
  parameter.type = std::string(type.name);
  parameter.alignment = type.alignment;
  std::uint64_t bytes = std::uint64_t{type.element_bytes} * type.vector_width;
  for (const std::uint64_t dimension : parse_dimensions(lexer, bytes)) bytes *= dimension;
  if (bytes > kMaxParameterBytes)
    throw ParseError(name.line, "expected parameter '" + parameter.name + "' of at most " +
                                    std::to_string(kMaxParameterBytes) + " bytes, got " +
                                    std::to_string(bytes));
  parameter.bytes = static_cast<std::uint32_t>(bytes);
  return parameter;
}

}  // namespace

std::optional<std::uint32_t> type_bytes(std::string_view type) {
  static constexpr std::pair<std::string_view, std::uint32_t> kTypes[] = {
      {"b32", 4},   {"u32", 4},    {"f32", 4},        {"s32", 4},    {"b64", 8},   {"u64", 8},
      {"s64", 8},   {"f64", 8},    {"b8", 1},         {"u8", 1},     {"s8", 1},    {"b16", 2},
      {"u16", 2},   {"s16", 2},    {"f16", 2},        {"bf16", 2},   {"f16x2", 4}, {"bf16x2", 4},
      {"b128", 16}, {"texref", 8}, {"samplerref", 8}, {"surfref", 8}};
  for (const auto& [name, bytes] : kTypes)
    if (name == type) return bytes;
  return std::nullopt;
}

std::optional<Space> declared_space(std::string_view directive) {
  if (directive == ".global") return Space::global;
  if (directive == ".shared") return Space::shared;
  if (directive == ".local") return Space::local;
  if (directive == ".const") return Space::constant;
  if (directive == ".param") return Space::param;
  return std::nullopt;
}

DeclaredType parse_type(Lexer& lexer) {
  DeclaredType type;
  while (lexer.peek().kind == TokenKind::dotted) {
    const std::string_view directive = lexer.peek().text;
    if (const auto bytes = type_bytes(directive.substr(1))) {
      lexer.next();
      type.name = directive.substr(1);
      type.element_bytes = *bytes;
      if (type.alignment == 0) type.alignment = *bytes * type.vector_width;
      return type;
    }
    if (const std::uint32_t width = parse_vector_width(directive)) {
      type.vector_width = width;
      lexer.next();
    } else if (lexer.accept(".align")) {
      type.alignment = parse_alignment(lexer);
    } else if (lexer.accept(".attribute") || lexer.accept(".unified")) {
      skip_parentheses(lexer, "after an attribute");
    } else {
      break;
    }
  }
  lexer.fail("a type such as .b32");
}

std::vector<DeclaredVariable> parse_variables(Lexer& lexer, Space space, bool external) {
  const DeclaredType type = parse_type(lexer);
  std::vector<DeclaredVariable> variables;
  do {
    variables.push_back(parse_variable(lexer, type, space, external));
  } while (lexer.accept(','));
  lexer.expect(';', "after a variable");
  return variables;
}

std::vector<Parameter> parse_parameters(Lexer& lexer) {
  std::vector<Parameter> parameters;
  lexer.expect('(', "before parameters");
  if (lexer.accept(')')) return parameters;
  do {
    parameters.push_back(parse_parameter(lexer));
  } while (lexer.accept(','));
  lexer.expect(')', "after parameters");
  return parameters;
}

std::uint32_t lay_out_parameters(std::vector<Parameter>& parameters, int line) {
  std::uint64_t end = 0;
  for (Parameter& parameter : parameters) {
    const std::uint64_t alignment = parameter.alignment;
    parameter.offset = static_cast<std::uint32_t>((end + alignment - 1) / alignment * alignment);
    end = std::uint64_t{parameter.offset} + parameter.bytes;
    if (end > kMaxParameterBytes)
      throw ParseError(line, "expected at most " + std::to_string(kMaxParameterBytes) +
                                 " bytes of parameters, got more at '" + parameter.name + "'");
  }
  return static_cast<std::uint32_t>(end);
}

void skip_pragma(Lexer& lexer) {
  do {
    (void)lexer.expect(TokenKind::string, "a pragma's text");
  } while (lexer.accept(','));
  lexer.expect(';', "after a pragma");
}

}  // namespace cudaopt::ptx
