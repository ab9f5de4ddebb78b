// SHA-256 (FIPS 180-4) of bytes, as lower-case hex.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::protocol {

[[nodiscard]] std::string sha256_hex(const std::vector<std::uint8_t>& bytes);

}  // namespace cudaopt::protocol
