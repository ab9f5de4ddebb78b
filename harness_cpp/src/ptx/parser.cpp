#include "ptx/parser.hpp"

#include <algorithm>
#include <utility>

#include "ptx/body.hpp"
#include "ptx/declarations.hpp"
#include "ptx/lexer.hpp"
#include "ptx/literal.hpp"
#include "ptx/location_table.hpp"

namespace cudaopt::ptx {

namespace {

// Text of a few bytes must not make us allocate gigabytes.
constexpr std::uint64_t kMaxInitializedBytes = std::uint64_t{1} << 27;

class ModuleParser {
 public:
  explicit ModuleParser(Module& module)
      : m_module(module), m_lexer(module.text), m_locations(module.locations) {}

  void parse() {
    while (m_lexer.peek().kind != TokenKind::end) parse_directive();
    if (m_module.version.empty()) m_lexer.fail(".version: this is not a PTX module");
  }

 private:
  void parse_directive() {
    if (m_lexer.accept(';')) return;
    const Token directive = m_lexer.expect(TokenKind::dotted, "a directive");
    if (parse_header(directive) || parse_debug(directive)) return;
    bool external = false;
    Token what = directive;
    while (what.is(".visible") || what.is(".extern") || what.is(".weak") || what.is(".common")) {
      external |= what.is(".extern");
      what = m_lexer.expect(TokenKind::dotted, "a function or variable");
    }
    if (what.is(".entry") || what.is(".func"))
      parse_function(what);
    else if (const auto space = declared_space(what.text))
      parse_variables(*space, external);
    else
      throw ParseError(what.line,
                       "expected a directive of a module, got '" + std::string(what.text) + "'");
  }

  [[nodiscard]] bool parse_header(const Token& directive) {
    if (directive.is(".version")) {
      m_module.version = std::string(m_lexer.expect(TokenKind::number, "a version").text);
    } else if (directive.is(".target")) {
      m_module.target = std::string(m_lexer.expect(TokenKind::word, "a target").text);
      while (m_lexer.accept(',')) (void)m_lexer.expect(TokenKind::word, "a target's feature");
    } else if (directive.is(".address_size")) {
      if (!m_lexer.peek().is("64")) m_lexer.fail("addresses of 64 bits");
      m_lexer.next();
    } else if (directive.is(".alias")) {
      parse_alias();
    } else if (directive.is(".pragma")) {
      skip_pragma(m_lexer);
    } else {
      return false;
    }
    return true;
  }

  [[nodiscard]] bool parse_debug(const Token& directive) {
    if (directive.is(".file")) {
      parse_file();
    } else if (directive.is(".section")) {
      (void)m_lexer.expect(TokenKind::dotted, "a section's name");
      m_lexer.skip_braces();
    } else if (directive.is(".loc")) {
      (void)m_locations.parse(m_lexer);
    } else {
      return false;
    }
    return true;
  }

  void parse_alias() {
    const Token alias = m_lexer.expect(TokenKind::word, "an alias");
    m_lexer.expect(',', "after an alias");
    const Token aliasee = m_lexer.expect(TokenKind::word, "the function an alias means");
    m_lexer.expect(';', "after .alias");
    m_module.aliases[std::string(alias.text)] = std::string(aliasee.text);
  }

  // .file 1 "a.cu", TIMESTAMP, BYTES or .file 1 "folder" "a.cu"
  void parse_file() {
    const std::uint64_t index = expect_count(m_lexer, "a file number", UINT32_MAX);
    std::string name(m_lexer.expect(TokenKind::string, "a file name").text);
    if (m_lexer.peek().kind == TokenKind::string) name += "/" + std::string(m_lexer.next().text);
    while (m_lexer.accept(','))
      (void)m_lexer.expect(TokenKind::number, "a file's timestamp or size");
    m_module.files[static_cast<std::uint32_t>(index)] = std::move(name);
  }

  void parse_variables(Space space, bool external) {
    for (DeclaredVariable& declared : ptx::parse_variables(m_lexer, space, external)) {
      m_initialized_bytes += declared.variable.initial.size();
      if (m_initialized_bytes > kMaxInitializedBytes)
        m_lexer.fail("at most " + std::to_string(kMaxInitializedBytes) + " initialised bytes");
      m_module.variables.push_back(std::move(declared.variable));
    }
  }

  void parse_function(const Token& kind) {
    Function function;
    function.entry = kind.is(".entry");
    if (!function.entry && m_lexer.peek().is('(')) function.results = parse_parameters(m_lexer);
    const Token name = m_lexer.expect(TokenKind::word, "a function's name");
    function.name = std::string(name.text);
    if (m_lexer.peek().is('(')) function.parameters = parse_parameters(m_lexer);
    function.parameter_bytes = lay_out_parameters(function.parameters, name.line);
    (void)lay_out_parameters(function.results, name.line);
    while (m_lexer.peek().kind == TokenKind::dotted) parse_tuning(function);
    if (m_lexer.accept(';')) return declare(std::move(function));
    BodyParser(m_lexer, m_locations, function).parse();
    define(std::move(function), name);
  }

  // .maxntid 256, 1, 1 and its kin: a name, then numbers; the shapes of block and cluster are kept.
  void parse_tuning(Function& function) {
    const Token directive = m_lexer.next();
    if (directive.is(".pragma")) return skip_pragma(m_lexer);
    std::uint32_t values[3] = {1, 1, 1};
    std::size_t count = 0;
    while (m_lexer.peek().kind == TokenKind::number) {
      if (count == 3) m_lexer.fail("at most three numbers");
      values[count++] = static_cast<std::uint32_t>(
          expect_count(m_lexer, "a number of threads or blocks", UINT32_MAX));
      if (!m_lexer.accept(',')) break;
    }
    function.explicit_cluster |= directive.is(".explicitcluster");
    if (directive.is(".reqnctapercluster")) {
      if (count == 0) m_lexer.fail("a number of blocks");
      std::copy(values, values + 3, function.cluster);
    }
    if (!directive.is(".maxntid") && !directive.is(".reqntid")) return;
    if (count == 0) m_lexer.fail("a number of threads");
    function.required_threads |= directive.is(".reqntid");
    std::copy(values, values + 3, function.max_threads);
  }

  void declare(Function function) {
    const auto same = [&](const Function& other) { return other.name == function.name; };
    const auto& defined = m_module.functions;
    const auto& declared = m_module.declarations;
    if (std::none_of(defined.begin(), defined.end(), same) &&
        std::none_of(declared.begin(), declared.end(), same))
      m_module.declarations.push_back(std::move(function));
  }

  void define(Function function, const Token& name) {
    if (m_module.find(function.name) != nullptr)
      throw ParseError(name.line,
                       "expected a new function, got a second body of '" + function.name + "'");
    auto& declared = m_module.declarations;
    const auto same = [&](const Function& other) { return other.name == function.name; };
    declared.erase(std::remove_if(declared.begin(), declared.end(), same), declared.end());
    m_module.functions.push_back(std::move(function));
  }

  Module& m_module;
  Lexer m_lexer;
  LocationTable m_locations;
  std::uint64_t m_initialized_bytes = 0;
};

}  // namespace

Module parse(std::string text) {
  Module module;
  module.text = std::move(text);
  while (!module.text.empty() && module.text.back() == '\0') module.text.pop_back();
  // A string this long never lives inside the std::string object, which moves with the Module.
  module.text.reserve(sizeof(std::string) + 1);
  ModuleParser(module).parse();
  return module;
}

}  // namespace cudaopt::ptx
