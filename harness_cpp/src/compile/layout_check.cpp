// Every assertion stands on a line of its own, whose number in a message tells what it is about.
#include "compile/layout_check.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "compile/diagnostics.hpp"
#include "compile/type_alternatives.hpp"

namespace cudaopt::compile {
namespace {

using protocol::MemberSpec;
using protocol::ModuleSpec;
using protocol::StructSpec;
using protocol::SymbolSpec;
constexpr const char* kGeneratedFile = "cudaopt layout";
constexpr const char* kAssertion = "static assertion failed";
// Lines of item i, structs first and then variables, start at kLinesPerItem * (i + 1): the name,
// the size (the type, of a variable), and then two lines for each member: its place and its type.
constexpr std::size_t kLinesPerItem = 10000, kNameLine = 0, kSizeLine = 1, kFirstMemberLine = 2;

// What is left of a type without qualifiers of its own, and of an array its elements'. Enumerators,
// because a static member would become a variable of the program.
constexpr const char* kPrelude =
    "namespace cudaopt_layout_check {\n"
    "using cudaopt_count = decltype(sizeof(int));\n"
    "template <cudaopt_count cudaopt_a, cudaopt_count cudaopt_b> struct cudaopt_equal "
    "{ enum { cudaopt_value = cudaopt_a == cudaopt_b }; };\n"
    "template <class cudaopt_a, class cudaopt_b> struct cudaopt_same "
    "{ enum { cudaopt_value = 0 }; };\n"
    "template <class cudaopt_a> struct cudaopt_same<cudaopt_a, cudaopt_a> "
    "{ enum { cudaopt_value = 1 }; };\n"
    "template <class cudaopt_a> struct cudaopt_plain { using cudaopt_type = cudaopt_a; };\n"
    "template <class cudaopt_a> struct cudaopt_plain<const cudaopt_a> : cudaopt_plain<cudaopt_a> "
    "{};\n"
    "template <class cudaopt_a> struct cudaopt_plain<volatile cudaopt_a> : "
    "cudaopt_plain<cudaopt_a> {};\n"
    "template <class cudaopt_a> struct cudaopt_plain<const volatile cudaopt_a> : "
    "cudaopt_plain<cudaopt_a> {};\n"
    "template <class cudaopt_a> struct cudaopt_plain<cudaopt_a* __restrict__> "
    "{ using cudaopt_type = cudaopt_a*; };\n"
    "template <class cudaopt_a> struct cudaopt_element : cudaopt_plain<cudaopt_a> {};\n"
    "template <class cudaopt_a, cudaopt_count cudaopt_n> struct cudaopt_element<cudaopt_a"
    "[cudaopt_n]> : cudaopt_element<cudaopt_a> {};\n";

std::string on_line(std::size_t item, std::size_t line, const std::string& text) {
  const std::size_t number = kLinesPerItem * (item + 1) + line;
  return "#line " + std::to_string(number) + " \"" + kGeneratedFile + "\"\n" + text + "\n";
}

std::string unique_name(const char* stem, std::size_t item, std::size_t line) {
  return std::string("cudaopt_") + stem + "_" + std::to_string(item) + "_" + std::to_string(line);
}

std::string number_check(std::size_t item, std::size_t line, const std::string& got,
                         std::uint64_t expected) {
  const std::string name = unique_name("number", item, line);
  return on_line(item, line,
                 "template <cudaopt_count cudaopt_got> struct " + name +
                     " { static_assert(cudaopt_equal<cudaopt_got, " + std::to_string(expected) +
                     ">::cudaopt_value, \"\"); }; template struct " + name + "<" + got + ">;");
}

std::string type_check(std::size_t item, std::size_t line, const std::string& got,
                       const TypeAlternatives& types) {
  const std::string name = unique_name("type", item, line);
  std::string condition;
  for (const std::string& type : types) {
    condition += (condition.empty() ? "" : " || ") + std::string("cudaopt_same<cudaopt_got, ") +
                 type + ">::cudaopt_value";
  }
  return on_line(item, line,
                 "template <class cudaopt_got> struct " + name + " { static_assert(" + condition +
                     ", \"\"); }; template struct " + name + "<" + got + ">;");
}

std::string struct_check(std::size_t item, const StructSpec& spec) {
  const std::string type = "cudaopt_struct_" + std::to_string(item);
  std::string text = on_line(item, kNameLine, "using " + type + " = " + spec.name + ";") +
                     number_check(item, kSizeLine, "sizeof(" + type + ")", spec.bytes);
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const MemberSpec& member = spec.members[i];
    const std::size_t line = kFirstMemberLine + 2 * i;
    // What offsetof is in NVRTC's front end; __builtin_offsetof came with CUDA 13.1 or later.
    text += number_check(item, line, "__INTADDR__(&((" + type + "*)0)->" + member.name + ")",
                         member.offset);
    text += type_check(
        item, line + 1,
        "typename cudaopt_plain<decltype(" + type + "::" + member.name + ")>::cudaopt_type",
        with_vectors(member.types));
  }
  return text;
}

std::string symbol_check(std::size_t item, const SymbolSpec& spec) {
  const std::string type = "cudaopt_variable_" + std::to_string(item);
  return on_line(item, kNameLine, "using " + type + " = decltype(" + spec.name + ");") +
         type_check(item, kSizeLine, "typename cudaopt_element<" + type + ">::cudaopt_type",
                    spec.types);
}

// The value of `cudaopt_got` in "... [with cudaopt_got=16UL]" at line 7".
std::string deduced(const std::string& text) {
  const std::string mark = "[with cudaopt_got=";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return "?";
  const std::size_t start = at + mark.size();
  return text.substr(start, text.find("]\"", start) - start);
}

// "16UL" to "16".
std::string number_in(const std::string& text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

std::string words_of(const Diagnostic& diagnostic) {
  return diagnostic.text.substr(0, diagnostic.text.find('\n'));
}

bool is_assertion(const Diagnostic& diagnostic) {
  return diagnostic.text.find(kAssertion) != std::string::npos;
}

std::string reason_of(const Diagnostic& diagnostic, std::size_t line, const StructSpec& spec) {
  if (!is_assertion(diagnostic)) return words_of(diagnostic);
  const std::string got = deduced(diagnostic.text);
  if (line == kSizeLine) {
    return "it has " + number_in(got) + " bytes, expected " + std::to_string(spec.bytes);
  }
  const std::size_t index = (line - kFirstMemberLine) / 2;
  const MemberSpec& member = spec.members.at(index);
  const std::string subject = "member '" + member.name + "' is ";
  if ((line - kFirstMemberLine) % 2 == 1) {
    return subject + "'" + got + "', expected " + quoted(member.types);
  }
  return subject + "at byte " + number_in(got) + ", expected " + std::to_string(member.offset);
}

std::string reason_of(const Diagnostic& diagnostic, const SymbolSpec& spec) {
  if (!is_assertion(diagnostic)) return words_of(diagnostic);
  return "its elements are '" + deduced(diagnostic.text) + "', expected " + quoted(spec.types);
}

bool is_word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(const std::string& line, const std::string& word) {
  for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_part(line[at - 1])) &&
        (end == line.size() || !is_word_part(line[end])))
      return true;
  }
  return false;
}

int line_introducing(const std::string& name, const std::vector<std::string>& by,
                     const std::string& source) {
  const std::string scope = name.substr(0, name.find('<'));
  const std::size_t colon = scope.rfind(':');
  const std::string plain = colon == std::string::npos ? scope : scope.substr(colon + 1);
  int number = 0;
  for (const std::string& line : lines_of(source)) {
    ++number;
    const bool introduces = std::any_of(
        by.begin(), by.end(), [&](const std::string& word) { return has_word(line, word); });
    if (introduces && has_word(line, plain)) return number;
  }
  return 0;
}

Diagnostic error_of(const ModuleSpec& spec, std::size_t item, const std::string& reason,
                    const std::string& source) {
  const bool is_struct = item < spec.structs.size();
  const std::string& name =
      is_struct ? spec.structs[item].name : spec.symbols[item - spec.structs.size()].name;
  Diagnostic error;
  error.file = spec.file;
  error.line = is_struct ? line_introducing(name, {"struct", "class"}, source)
                         : line_introducing(name, {"__constant__", "__device__"}, source);
  error.severity = "error";
  error.text = std::string("cudaopt layout: ") + (is_struct ? "struct '" : "variable '") + name +
               "' is not as declared: " + reason;
  return error;
}

}  // namespace

std::string layout_check(const ModuleSpec& spec) {
  if (spec.structs.empty() && spec.symbols.empty()) return "";
  std::string text = std::string("\n\n#line 1 \"") + kGeneratedFile + "\"\n" + kPrelude;
  for (std::size_t i = 0; i < spec.structs.size(); ++i) text += struct_check(i, spec.structs[i]);
  for (std::size_t i = 0; i < spec.symbols.size(); ++i) {
    text += symbol_check(spec.structs.size() + i, spec.symbols[i]);
  }
  return text + "}\n";
}

bool is_about_layout_check(const Diagnostic& diagnostic) {
  return diagnostic.file == kGeneratedFile;
}

std::vector<Diagnostic> layout_errors(const std::vector<Diagnostic>& diagnostics,
                                      const ModuleSpec& spec, const std::string& source) {
  std::map<std::size_t, std::string> reasons;  // by item
  std::set<std::size_t> unknown;               // items whose name alone is an error
  std::set<int> told;                          // what is said second of a line follows from it
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!is_about_layout_check(diagnostic) || !is_error(diagnostic)) continue;
    const auto number = static_cast<std::size_t>(diagnostic.line);
    if (number < kLinesPerItem || !told.insert(diagnostic.line).second) continue;
    const std::size_t item = number / kLinesPerItem - 1, line = number % kLinesPerItem;
    if (unknown.count(item) != 0) continue;
    if (line == kNameLine) unknown.insert(item);
    const bool is_struct = item < spec.structs.size();
    const std::string reason =
        is_struct ? reason_of(diagnostic, line, spec.structs[item])
                  : reason_of(diagnostic, spec.symbols.at(item - spec.structs.size()));
    std::string& all = reasons[item];
    // A member that is not there is said of its place, and again of its type.
    if (all.find(reason) == std::string::npos) all += (all.empty() ? "" : "; ") + reason;
  }
  std::vector<Diagnostic> errors;
  for (const auto& [item, reason] : reasons) errors.push_back(error_of(spec, item, reason, source));
  return errors;
}

}  // namespace cudaopt::compile
