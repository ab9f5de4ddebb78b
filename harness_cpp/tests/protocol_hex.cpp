// Bytes to hexadecimal digits and back.
#include "check.hpp"
#include "protocol/hex.hpp"

using namespace cudaopt::protocol;
using Bytes = std::vector<std::uint8_t>;

TEST("bytes survive the way to hexadecimal digits and back") {
  CHECK_EQUAL(std::string("00ff7f0a"), hex_of({0x00, 0xff, 0x7f, 0x0a}));
  CHECK(bytes_of("00FF7f0a").value() == (Bytes{0x00, 0xff, 0x7f, 0x0a}));
  CHECK(bytes_of("").value().empty());
}

TEST("half a byte and other characters are not hexadecimal") {
  CHECK(!bytes_of("0"));
  CHECK(!bytes_of("0g"));
  CHECK(!bytes_of("0x"));
}
