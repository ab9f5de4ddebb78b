// Real PTX with a few things changed, as a hostile or a broken front end might write it.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mutants {

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : m_random(seed) {}

  // A copy with one to three changes.
  [[nodiscard]] std::string mutant_of(const std::string& text) {
    std::string changed = text;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) change(changed);
    return changed;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : m_random() % bound; }

  void change(std::string& text) {
    switch (below(10)) {
      case 0:
        text.resize(below(text.size() + 1));
        break;
      case 1:
        if (!text.empty()) text[below(text.size())] = any_character();
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(below(text.size() + 1), below(60)));
        break;
      case 3:
      case 4:
        move_line(text);
        break;
      case 5:
        replace_number(text);
        break;
      default:
        exchange_words(text);
    }
  }

  char any_character() {
    static const std::string kCharacters = "{}[]()<>;:,.%@!|+-_=\"/*0123456789abfxUZ \n\x80";
    return kCharacters[below(kCharacters.size())];
  }

  // Words are what changes the meaning and keeps the grammar: registers, modifiers, numbers.
  struct Word {
    std::size_t at, length;
  };

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '%' ||
           c == '_' || c == '$';
  }

  Word any_word(const std::string& text) {
    std::size_t at = below(text.size());
    while (at < text.size() && !is_word(text[at])) ++at;
    while (at > 0 && is_word(text[at - 1])) --at;
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    return {at, end - at};
  }

  void exchange_words(std::string& text) {
    const Word from = any_word(text);
    const std::string fresh = text.substr(from.at, from.length);
    const Word to = any_word(text);
    text.replace(to.at, to.length, fresh);
  }

  void replace_number(std::string& text) {
    static const std::vector<std::string> kNumbers = {
        "0",          "1",          "-1",    "31",         "32",         "64",
        "255",        "65536",      "-4",    "2147483648", "4294967295", "9223372036854775807",
        "0xffffffff", "0f7FC00000", "1e999", "-2147483648"};
    std::size_t at = below(text.size());
    while (at < text.size() && (text[at] < '0' || text[at] > '9')) ++at;
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    text.replace(at, end - at, kNumbers[below(kNumbers.size())]);
  }

  // A line that disappears, or stands elsewhere, once more or alone.
  void move_line(std::string& text) {
    const std::size_t start = line_start(text, below(text.size() + 1));
    std::size_t end = text.find('\n', start);
    end = end == std::string::npos ? text.size() : end + 1;
    const std::string line = text.substr(start, end - start);
    if (below(3) != 0) text.erase(start, end - start);
    if (below(3) != 0) text.insert(line_start(text, below(text.size() + 1)), line);
  }

  static std::size_t line_start(const std::string& text, std::size_t at) {
    if (at == 0) return 0;
    const std::size_t before = text.rfind('\n', at - 1);
    return before == std::string::npos ? 0 : before + 1;
  }

  std::mt19937 m_random;
};

}  // namespace mutants
