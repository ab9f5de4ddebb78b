// Bytes as hexadecimal text, in memory order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudaopt::protocol {

[[nodiscard]] std::string hex_of(const std::vector<std::uint8_t>& bytes);

// nullopt: an odd number of digits, or a character that is no hexadecimal digit.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> bytes_of(const std::string& hex);

}  // namespace cudaopt::protocol
