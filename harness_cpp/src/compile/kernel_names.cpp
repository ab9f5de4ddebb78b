#include "compile/kernel_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace cudaopt::compile {
namespace {

constexpr const char* kGlobal = "__global__";
constexpr std::size_t kNone = std::string::npos;

bool is_word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t end_of_word(const std::string& text, std::size_t at) {
  while (at < text.size() && is_word_part(text[at])) ++at;
  return at;
}

std::size_t skip_spaces(const std::string& text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// Where the group that opens at `at` has ended.
std::size_t after_group(const std::string& text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

void blank(std::string& text, std::size_t from, std::size_t to) {
  for (; from < to; ++from) {
    if (text[from] != '\n') text[from] = ' ';
  }
}

std::size_t end_of_string(const std::string& text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// The text without comments and strings, line for line.
std::string code_of(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = at;
    if (text.compare(at, 2, "//") == 0) end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", at + 2);
      end = close == kNone ? text.size() : close + 2;
    }
    if (text[at] == '"') end = end_of_string(text, at);
    blank(text, at, end);
    at = std::max(at, end == at ? at : end - 1);
  }
  return text;
}

// The name before the parameters of the function that is declared from `at` on, and its place.
std::size_t find_name(const std::string& code, std::size_t at) {
  while (at < code.size() && code[at] != ';' && code[at] != '{') {
    if (!is_word_part(code[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(code, at);
    const std::size_t next = skip_spaces(code, end);
    const bool is_called = next < code.size() && code[next] == '(';
    const bool is_attribute = code.compare(at, 2, "__") == 0 || code.compare(at, 7, "alignas") == 0;
    if (is_called && !is_attribute) return at;
    at = is_called ? after_group(code, next) : end;
  }
  return kNone;
}

bool follows_template(const std::string& code, std::size_t at) {
  const std::size_t start = at == 0 ? kNone : code.find_last_of(";{}", at - 1);
  const std::size_t from = start == kNone ? 0 : start + 1;
  return code.substr(from, at - from).find("template") != std::string::npos;
}

std::string lines_of_kernels(const std::vector<KernelInText>& kernels) {
  std::string list;
  for (const KernelInText& kernel : kernels) {
    list +=
        (list.empty() ? "" : ", ") + kernel.name + " (line " + std::to_string(kernel.line) + ")";
  }
  return list;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != kNone; }

// What the compiler quotes: "ns::attn" of `cannot determine which ... "ns::attn" is intended`.
std::string quoted_name(const std::string& reason) {
  const std::size_t open = reason.find('"');
  const std::size_t close = open == kNone ? kNone : reason.find('"', open + 1);
  return close == kNone ? "" : reason.substr(open + 1, close - open - 1);
}

std::vector<std::string> overloads_of(const std::string& name,
                                      const std::vector<std::string>& compiled) {
  std::vector<std::string> found;
  for (const std::string& mangled : compiled) {
    // One of extern "C" says no types.
    const std::string text = demangled(mangled);
    const std::size_t open = text.find('(');
    if (open != kNone && text.substr(0, open) == name) found.push_back(mangled);
  }
  return found;
}

// "static_cast<void (*)(float*)>(f)" for the overload "f(float*)".
std::string cast_to(const std::string& overload) {
  const std::size_t open = overload.find('(');
  return "static_cast<void (*)" + overload.substr(open) + ">(" + overload.substr(0, open) + ")";
}

std::string next_step(const std::string& reason, const std::vector<std::string>& compiled) {
  const std::string name = quoted_name(reason);
  if (contains(reason, "function template")) {
    return " It is a template: give its arguments, such as " + name + "<float>.";
  }
  if (contains(reason, "overloaded function")) {
    const std::vector<std::string> overloads = overloads_of(name, compiled);
    const std::string example = overloads.empty() ? "static_cast<void (*)(float*)>(" + name + ")"
                                                  : cast_to(demangled(overloads.front()));
    return " Name one of its overloads by a cast, such as " + example + ".";
  }
  if (name == "__half") return " Include <cuda_fp16.h> in the source.";
  if (name == "__nv_bfloat16") return " Include <cuda_bf16.h> in the source.";
  if (name.compare(0, 8, "__nv_fp8") == 0) return " Include <cuda_fp8.h> in the source.";
  return "";
}

}  // namespace

std::vector<KernelInText> kernels_in_text(const std::string& source) {
  const std::string code = code_of(source);
  std::vector<KernelInText> found;
  for (std::size_t at = code.find(kGlobal); at != kNone; at = code.find(kGlobal, at + 1)) {
    const std::size_t name = find_name(code, at + std::string(kGlobal).size());
    if (name == kNone) continue;
    const auto line = 1 + std::count(code.begin(), code.begin() + static_cast<long>(name), '\n');
    found.push_back({code.substr(name, end_of_word(code, name) - name), static_cast<int>(line),
                     follows_template(code, at)});
  }
  return found;
}

std::string plain_name_of(const std::string& entry) {
  std::string name = entry.substr(0, entry.find_last_not_of(' ') + 1);
  if (name.size() > 1 && name.back() == ')') {
    int depth = 0;
    std::size_t open = name.size();
    do {
      --open;
      if (name[open] == ')') ++depth;
      if (name[open] == '(') --depth;
    } while (open > 0 && depth > 0);
    if (depth == 0) return plain_name_of(name.substr(open + 1, name.size() - open - 2));
  }
  if (!name.empty() && name.front() == '(') name = name.substr(after_group(name, 0));
  name = name.substr(0, name.find('<'));
  const std::size_t colon = name.rfind(':');
  const std::size_t start = name.find_first_not_of("& )", colon == kNone ? 0 : colon + 1);
  if (start == kNone) return "";
  return name.substr(start, name.find_last_not_of(' ') + 1 - start);
}

FaultDetail unknown_entry(const std::string& module, const std::string& reason,
                          const std::string& file, const std::string& source,
                          const std::vector<std::string>& compiled) {
  FaultDetail detail;
  detail.kind = FaultKind::unknown_entry;
  detail.message = "module \"" + module + "\" has no such kernel: " + reason + "." +
                   next_step(reason, compiled) + " " + kernels_found(source, compiled);
  const std::string wanted = plain_name_of(quoted_name(reason));
  for (const KernelInText& kernel : kernels_in_text(source)) {
    if (kernel.name != wanted) continue;
    detail.at = SourcePoint{file, kernel.line};
    break;
  }
  return detail;
}

std::string choice_of_kernels(const std::string& source) {
  const std::vector<KernelInText> kernels = kernels_in_text(source);
  return kernels.size() < 2 ? "" : lines_of_kernels(kernels);
}

std::string kernels_found(const std::string& source, const std::vector<std::string>& compiled) {
  const std::string plain = readable_list(compiled);
  std::vector<KernelInText> kernels = kernels_in_text(source);
  kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                               [](const KernelInText& kernel) { return !kernel.is_template; }),
                kernels.end());
  const std::string templates = lines_of_kernels(kernels);
  if (plain.empty() && templates.empty()) return "No __global__ function was found.";
  if (templates.empty()) return "__global__ functions found: " + plain + ".";
  if (plain.empty()) return "__global__ functions found: templates " + templates + ".";
  return "__global__ functions found: " + plain + "; templates " + templates + ".";
}

std::string readable_list(const std::vector<std::string>& mangled_names) {
  std::string list;
  for (const std::string& name : mangled_names) {
    list += (list.empty() ? "" : ", ") + demangled(name);
  }
  return list;
}

}  // namespace cudaopt::compile
