// SHA-256 against the published test vectors, and around the lengths where padding changes.
#include "check.hpp"
#include "protocol/sha256.hpp"

using cudaopt::protocol::sha256_hex;

namespace {

std::string digest_of(const std::string& text) {
  return sha256_hex(std::vector<std::uint8_t>(text.begin(), text.end()));
}

}  // namespace

TEST("SHA-256 gives the digests of FIPS 180-4") {
  CHECK_EQUAL(std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
              digest_of(""));
  CHECK_EQUAL(std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
              digest_of("abc"));
  CHECK_EQUAL(std::string("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
              digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"));
  CHECK_EQUAL(std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
              digest_of(std::string(1000000, 'a')));
}

TEST("the length that just fits a block and the one that does not are padded differently") {
  CHECK_EQUAL(std::string("9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
              digest_of(std::string(55, 'a')));
  CHECK_EQUAL(std::string("b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
              digest_of(std::string(56, 'a')));
}
