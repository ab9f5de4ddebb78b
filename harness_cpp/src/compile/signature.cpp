// Every generated assertion stands on a line of its own, so that the line in a message tells which
// entry and which parameter it is about.
#include "compile/signature.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "compile/diagnostics.hpp"
#include "compile/kernel_names.hpp"
#include "compile/type_alternatives.hpp"

namespace cudaopt::compile {
namespace {

constexpr const char* kGeneratedFile = "cudaopt signature";
constexpr const char* kAssertion = "static assertion failed";
// Lines of entry i start at kLinesPerEntry * (i + 1): first the count of parameters, then one line
// for each, and on the last one the entry itself is named.
constexpr int kLinesPerEntry = 10000;
constexpr int kNameLine = kLinesPerEntry - 1;
std::string line_directive(std::size_t entry, std::size_t line) {
  const std::size_t number = kLinesPerEntry * (entry + 1) + line;
  return "#line " + std::to_string(number) + " \"" + kGeneratedFile + "\"\n";
}

// A user's macro, such as a tunable called P0 or same, must not meet a name of ours.
std::string formal(std::size_t parameter) { return "cudaopt_p" + std::to_string(parameter); }

std::string parameter_assertion(std::size_t parameter, const TypeAlternatives& types) {
  std::string condition;
  for (const std::string& type : types) {
    condition += (condition.empty() ? "" : " || ") + std::string("cudaopt_same<") +
                 formal(parameter) + ", " + type + ">::cudaopt_value";
  }
  return "static_assert(" + condition + ", \"\");\n";
}

// A cast, which picks one of several overloads, is a pointer already.
std::string pointer_to(const std::string& entry) {
  const bool is_pointer = entry.front() == '&' || entry.front() == '(' || entry.back() == ')';
  return is_pointer ? entry : "&" + entry;
}

// So that a source without their headers can be told which type was expected.
std::string class_declarations(const std::vector<protocol::EntrySpec>& entries) {
  TypeAlternatives types;
  for (const protocol::EntrySpec& entry : entries) {
    if (!entry.parameters) continue;
    for (const TypeAlternatives& alternatives : *entry.parameters) {
      for (const std::string& type : with_vectors(alternatives)) types.push_back(type);
    }
  }
  return declarations_of_classes(types);
}

std::string entry_check(std::size_t index, const protocol::EntrySpec& entry) {
  const std::vector<TypeAlternatives>& parameters = *entry.parameters;
  const std::string name = "cudaopt_entry_" + std::to_string(index);
  std::string formals, actuals;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    formals += (i == 0 ? "class " : ", class ") + formal(i);
    actuals += (i == 0 ? "" : ", ") + formal(i);
  }
  std::string text = line_directive(index, 0) + "template <class cudaopt_got> struct " + name +
                     " { static_assert(cudaopt_same<cudaopt_got, void>::cudaopt_value, \"\"); };\n";
  text += "template <" + formals + "> struct " + name + "<void (*)(" + actuals + ")> {\n";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += line_directive(index, i + 1) + parameter_assertion(i, with_vectors(parameters[i]));
  }
  return text + "};\n" + line_directive(index, kNameLine) + "template struct " + name +
         "<decltype(" + pointer_to(entry.name) + ")>;\n";
}

// The value of `name` in "... [with P0=float *, P1=int]" at line 7", where `next` may follow it.
std::string deduced(const std::string& text, const std::string& name, const std::string& next) {
  const std::size_t with = text.find("[with ");
  if (with == std::string::npos) return "?";
  const std::size_t at = text.find(name + "=", with);
  if (at == std::string::npos) return "?";
  const std::size_t start = at + name.size() + 1;
  const std::size_t end = std::min(text.find(", " + next + "=", start), text.find("]\"", start));
  return text.substr(start, end - start);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What one message on line `line` of an entry says, as the end of a sentence.
std::string reason_of(const Diagnostic& diagnostic, int line,
                      const std::vector<TypeAlternatives>& parameters) {
  if (line == 0) {
    const std::size_t count = parameters.size();
    return "it is " + deduced(diagnostic.text, "cudaopt_got", "cudaopt_got") + ", expected " +
           std::to_string(count) + (count == 1 ? " parameter" : " parameters");
  }
  const std::string subject = "parameter " + std::to_string(line);
  if (diagnostic.text.find(kAssertion) == std::string::npos) {
    return subject + ": " + first_line(diagnostic.text);
  }
  const auto index = static_cast<std::size_t>(line) - 1;
  const std::string got = deduced(diagnostic.text, formal(index), formal(index + 1));
  return subject + " is '" + got + "', expected " + quoted(parameters.at(index));
}

bool is_identifier_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_whole_word(const std::string& text, std::size_t at, std::size_t length) {
  return (at == 0 || !is_identifier_part(text[at - 1])) &&
         (at + length >= text.size() || !is_identifier_part(text[at + length]));
}

}  // namespace

std::string signature_check(const std::vector<protocol::EntrySpec>& entries) {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].parameters) text += entry_check(i, entries[i]);
  }
  if (text.empty()) return "";
  // Enumerators, because static members would become variables of the program.
  // Two line ends: the source may end in a backslash, which would join the first to its last line.
  return std::string("\n\n#line 1 \"") + kGeneratedFile + "\"\n" + class_declarations(entries) +
         "namespace cudaopt_signature_check {\n"
         "template <class cudaopt_a, class cudaopt_b> struct cudaopt_same "
         "{ enum { cudaopt_value = 0 }; };\n"
         "template <class cudaopt_a> struct cudaopt_same<cudaopt_a, cudaopt_a> "
         "{ enum { cudaopt_value = 1 }; };\n"
         // Whether a kernel may cache what it reads is its own affair.
         "template <class cudaopt_a> struct cudaopt_same<cudaopt_a volatile*, cudaopt_a*> "
         "{ enum { cudaopt_value = 1 }; };\n" +
         text + "}\n";
}

bool is_about_signature_check(const Diagnostic& diagnostic) {
  return diagnostic.file == kGeneratedFile;
}

std::vector<Diagnostic> signature_errors(const std::vector<Diagnostic>& diagnostics,
                                         const std::vector<protocol::EntrySpec>& entries,
                                         const std::string& source, const std::string& file) {
  std::map<std::size_t, std::string> reasons;  // by entry
  std::set<int> told;  // what is said second of a line follows from the first
  for (const Diagnostic& diagnostic : diagnostics) {
    const int entry_number = diagnostic.line / kLinesPerEntry;
    const int line = diagnostic.line % kLinesPerEntry;
    if (!is_about_signature_check(diagnostic) || !is_error(diagnostic) || entry_number == 0 ||
        line == kNameLine || !told.insert(diagnostic.line).second) {
      continue;
    }
    const auto entry = static_cast<std::size_t>(entry_number) - 1;
    std::string& reason = reasons[entry];
    reason +=
        (reason.empty() ? "" : "; ") + reason_of(diagnostic, line, *entries.at(entry).parameters);
  }
  const std::string choice = choice_of_kernels(source);
  std::vector<Diagnostic> errors;
  for (const auto& [index, reason] : reasons) {
    const protocol::EntrySpec& entry = entries[index];
    Diagnostic error;
    error.file = file;
    error.line = line_declaring(entry.name, source);
    error.severity = "error";
    error.text = "cudaopt signature: kernel '" + entry.name + "' is not as declared: " + reason;
    if (!choice.empty()) error.text += ". Kernels in this file: " + choice;
    errors.push_back(std::move(error));
  }
  return errors;
}

int line_declaring(const std::string& entry, const std::string& source) {
  const std::string name = plain_name_of(entry);
  int line = 1;
  bool after_global = false;  // a __global__ was seen, and nothing has ended its declaration yet
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (source[at] == '\n') ++line;
    if (source[at] == ';' || source[at] == '{') after_global = false;
    if (source.compare(at, 10, "__global__") == 0) after_global = true;
    if (after_global && !name.empty() && source.compare(at, name.size(), name) == 0 &&
        is_whole_word(source, at, name.size())) {
      return line;
    }
  }
  return 0;
}

}  // namespace cudaopt::compile
