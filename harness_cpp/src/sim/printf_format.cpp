#include "sim/printf_format.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace cudaopt::sim {
namespace {

constexpr int kMostColumns = 4096;
constexpr std::size_t kMostTextBytes = 1u << 20;

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// %[flags][width][.precision][length]conversion
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  std::string length;
  char kind = '\0';
};

// What snprintf writes for one value.
template <class T>
std::string written(const std::string& format, const Conversion& conversion, T value) {
  const int width = conversion.width.value_or(0);
  char buffer[kMostColumns + 512];  // the longest number without a precision has 317 digits
  const int length = conversion.precision
                         ? std::snprintf(buffer, sizeof buffer, format.c_str(), width,
                                         *conversion.precision, value)
                         : std::snprintf(buffer, sizeof buffer, format.c_str(), width, value);
  const auto end = std::clamp<int>(length, 0, static_cast<int>(sizeof buffer) - 1);
  return {buffer, static_cast<std::size_t>(end)};
}

std::string format_of(const Conversion& conversion, std::string_view length) {
  return "%" + conversion.flags + "*" + (conversion.precision ? ".*" : "") + std::string(length) +
         conversion.kind;
}

std::uint32_t integer_bytes(const Conversion& conversion) {
  return is_one_of(conversion.length.empty() ? '\0' : conversion.length[0], "ljzt") ? 8 : 4;
}

std::string signed_integer(const Conversion& conversion, std::uint64_t bits) {
  long long value = static_cast<long long>(bits);
  if (integer_bytes(conversion) == 4) value = static_cast<std::int32_t>(bits);
  if (conversion.length == "h") value = static_cast<std::int16_t>(bits);
  if (conversion.length == "hh") value = static_cast<std::int8_t>(bits);
  return written(format_of(conversion, "ll"), conversion, value);
}

std::string unsigned_integer(const Conversion& conversion, std::uint64_t bits) {
  if (conversion.length == "h") bits &= 0xffff;
  if (conversion.length == "hh") bits &= 0xff;
  return written(format_of(conversion, "ll"), conversion, static_cast<unsigned long long>(bits));
}

std::string floating(const Conversion& conversion, std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return written(format_of(conversion, ""), conversion, value);
}

std::string padded(const Conversion& conversion, std::string text) {
  const auto width = static_cast<std::size_t>(conversion.width.value_or(0));
  const std::size_t missing = width - std::min(width, text.size());
  const bool left = is_one_of('-', conversion.flags);
  return left ? text + std::string(missing, ' ') : std::string(missing, ' ') + text;
}

class Formatter {
 public:
  Formatter(const std::string& format, PrintfArguments& arguments)
      : m_format(format), m_arguments(arguments) {}

  Printed run() {
    while (m_at < m_format.size()) {
      const std::size_t percent = std::min(m_format.find('%', m_at), m_format.size());
      m_printed.text.append(m_format, m_at, percent - m_at);
      m_at = percent;
      if (m_at < m_format.size()) convert();
    }
    return std::move(m_printed);
  }

 private:
  void convert() {
    const std::size_t begin = m_at++;
    const Conversion conversion = read();
    const auto text = converted(conversion);
    m_printed.text += text ? *text : m_format.substr(begin, m_at - begin);
  }

  [[nodiscard]] Conversion read() {
    Conversion conversion;
    while (m_at < m_format.size() && is_one_of(m_format[m_at], "-+ #0")) {
      conversion.flags += m_format[m_at++];
    }
    conversion.width = read_columns();
    if (conversion.width && *conversion.width < 0) {
      conversion.flags += '-';
      conversion.width = -*conversion.width;
    }
    if (accept('.')) {
      conversion.precision = read_columns().value_or(0);
      if (*conversion.precision < 0) conversion.precision.reset();
    }
    while (m_at < m_format.size() && is_one_of(m_format[m_at], "hlLjzt")) {
      conversion.length += m_format[m_at++];
    }
    if (m_at < m_format.size()) conversion.kind = m_format[m_at++];
    return conversion;
  }

  [[nodiscard]] bool accept(char c) {
    if (m_at >= m_format.size() || m_format[m_at] != c) return false;
    ++m_at;
    return true;
  }

  // A number, or `*` for the next argument.
  [[nodiscard]] std::optional<int> read_columns() {
    if (accept('*')) {
      return std::clamp(static_cast<int>(static_cast<std::int32_t>(next(4))), -kMostColumns,
                        kMostColumns);
    }
    std::optional<int> number;
    while (m_at < m_format.size() && is_one_of(m_format[m_at], "0123456789")) {
      number = std::min(number.value_or(0) * 10 + (m_format[m_at++] - '0'), kMostColumns);
    }
    return number;
  }

  [[nodiscard]] std::optional<std::string> converted(const Conversion& conversion) {
    switch (conversion.kind) {
      case '%':
        return "%";
      case 'd':
      case 'i':
        return signed_integer(conversion, next(integer_bytes(conversion)));
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        return unsigned_integer(conversion, next(integer_bytes(conversion)));
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        return floating(conversion, next(8));
      case 'c':
        return padded(conversion, std::string(1, static_cast<char>(next(4))));
      case 'p':
        return pointer(conversion);
      case 's':
        return padded(conversion, text(conversion));
      case 'n':
        static_cast<void>(next(8));
        return "";
      default:
        return std::nullopt;
    }
  }

  [[nodiscard]] std::string pointer(const Conversion& conversion) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(next(8)));
    return padded(conversion, std::string_view(digits) == "0x0" ? "(nil)" : digits);
  }

  [[nodiscard]] std::string text(const Conversion& conversion) {
    const std::uint64_t address = next(8);
    const std::size_t most =
        conversion.precision ? static_cast<std::size_t>(*conversion.precision) : kMostTextBytes;
    return address == 0 ? "(null)" : m_arguments.text(address, most);
  }

  [[nodiscard]] std::uint64_t next(std::uint32_t bytes) {
    ++m_printed.arguments;
    return m_arguments.next(bytes);
  }

  const std::string& m_format;
  PrintfArguments& m_arguments;
  std::size_t m_at = 0;
  Printed m_printed;
};

}  // namespace

Printed format_printf(const std::string& format, PrintfArguments& arguments) {
  return Formatter(format, arguments).run();
}

}  // namespace cudaopt::sim
