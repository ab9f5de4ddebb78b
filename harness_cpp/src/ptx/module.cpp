#include "ptx/module.hpp"

#include <algorithm>

namespace cudaopt::ptx {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string_view Instruction::type() const {
  return modifiers.empty() ? std::string_view() : modifiers.back();
}

std::string Instruction::readable_text() const {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i), text.size()) + 1;
    } else if (!is_blank(text[i])) {
      line += text[i];
      continue;
    }
    if (!line.empty() && line.back() != ' ') line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

const Function* Module::find(std::string_view name) const {
  const auto alias = aliases.find(std::string(name));
  const std::string_view wanted = alias == aliases.end() ? name : std::string_view(alias->second);
  for (const Function& function : functions)
    if (function.name == wanted) return &function;
  return nullptr;
}

}  // namespace cudaopt::ptx
