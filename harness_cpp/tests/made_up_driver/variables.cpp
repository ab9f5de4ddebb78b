#include "variables.hpp"

#include <cstddef>
#include <cstring>
#include <sstream>

#include "memory.hpp"

namespace made_up {
namespace {

constexpr std::uint32_t kSymbolTable = 2;
constexpr unsigned kObject = 1;
constexpr std::size_t kSymbolBytes = 24;

template <class Field>
Field field_at(const std::string& image, std::size_t offset) {
  Field field;
  std::memcpy(&field, image.data() + offset, sizeof field);
  return field;
}

// The symbols of one table, whose names are in the section of index `names`.
void read_symbols(const std::string& image, std::uint64_t table, std::uint64_t bytes,
                  std::uint64_t names, Variables& found) {
  for (std::uint64_t at = table; at < table + bytes; at += kSymbolBytes) {
    const bool is_defined = field_at<std::uint16_t>(image, at + 6) != 0;
    if (!is_defined || (field_at<unsigned char>(image, at + 4) & 15u) != kObject) continue;
    const char* name = image.data() + names + field_at<std::uint32_t>(image, at);
    found[name].bytes = field_at<std::uint64_t>(image, at + 16);
  }
}

Variables of_elf(const std::string& image) {
  Variables found;
  const auto headers = field_at<std::uint64_t>(image, 0x28);
  const auto header_bytes = field_at<std::uint16_t>(image, 0x3a);
  const auto count = field_at<std::uint16_t>(image, 0x3c);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t header = headers + i * header_bytes;
    if (field_at<std::uint32_t>(image, header + 4) != kSymbolTable) continue;
    const std::uint64_t names =
        headers + std::uint64_t{field_at<std::uint32_t>(image, header + 0x28)} * header_bytes;
    read_symbols(image, field_at<std::uint64_t>(image, header + 0x18),
                 field_at<std::uint64_t>(image, header + 0x20),
                 field_at<std::uint64_t>(image, names + 0x18), found);
  }
  return found;
}

Variables of_text(const std::string& image) {
  Variables found;
  std::istringstream lines(image);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name;
    std::uint64_t bytes = 0;
    if (words >> kind >> name >> bytes && kind == "variable") found[name].bytes = bytes;
  }
  return found;
}

}  // namespace

Variables make_variables(const std::string& image) {
  Variables made = image.compare(0, 4,
                                 "\x7f"
                                 "ELF") == 0
                       ? of_elf(image)
                       : of_text(image);
  for (auto& [name, variable] : made) {
    if (variable.bytes == 0) continue;
    const std::uint64_t whole = in_whole_pages(variable.bytes);
    variable.pointer = reserve(whole);
    back(variable.pointer, whole);
    addresses().add(variable.pointer, {whole});
  }
  return made;
}

void remove_variables(const Variables& variables) {
  for (const auto& [name, variable] : variables) {
    if (variable.bytes == 0) continue;
    unreserve(variable.pointer, in_whole_pages(variable.bytes));
    addresses().remove(variable.pointer);
  }
}

}  // namespace made_up
