// Two digits per byte, either case on the way in, lower case on the way out.
#include "protocol/hex.hpp"

#include <string_view>

namespace cudaopt::protocol {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::optional<std::uint8_t> digit_of(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const std::size_t at = kDigits.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint8_t>(at);
}

}  // namespace

std::string hex_of(const std::vector<std::uint8_t>& bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<std::vector<std::uint8_t>> bytes_of(const std::string& hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    const auto high = digit_of(hex[at]), low = digit_of(hex[at + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(*high << 4 | *low));
  }
  return bytes;
}

}  // namespace cudaopt::protocol
