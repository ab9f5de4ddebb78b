// C's formats over arguments as CUDA lays them out.
#include <cstring>
#include <map>
#include <vector>

#include "check.hpp"
#include "sim/printf_format.hpp"

using namespace cudaopt::sim;

namespace {

class Bits final : public PrintfArguments {
 public:
  explicit Bits(std::vector<std::uint64_t> values) : m_values(std::move(values)) {}
  std::uint64_t next(std::uint32_t bytes) override {
    sizes += std::to_string(bytes);
    return m_at < m_values.size() ? m_values[m_at++] : 0;
  }
  std::string text(std::uint64_t, std::size_t most) override {
    return std::string("text").substr(0, most);
  }
  std::string sizes;

 private:
  std::vector<std::uint64_t> m_values;
  std::size_t m_at = 0;
};

std::string print(const std::string& format, std::vector<std::uint64_t> values = {}) {
  Bits bits(std::move(values));
  return format_printf(format, bits).text;
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

TEST("integers print as narrow as their length says") {
  CHECK_EQUAL(std::string("-1 255 -1 4294967295"),
              print("%hhd %hhu %d %u", {0x1ff, 0x1ff, 0xffffffff, 0xffffffff}));
  CHECK_EQUAL(std::string("-2 18446744073709551614 fffe"),
              print("%ld %llu %hx", {~1ull, ~1ull, ~1ull}));
}

TEST("arguments are asked for in the size their conversion has") {
  Bits bits({});
  CHECK_EQUAL(9u, format_printf("%d%lld%f%s%c%p%*.*u", bits).arguments);
  CHECK_EQUAL(std::string("488848444"), bits.sizes);
}

TEST("widths and precisions have an end") {
  CHECK_EQUAL(std::size_t{4096}, print("%999999999d", {1}).size());
  CHECK_EQUAL(std::size_t{4096 + 2}, print("%.999999999f", {bits_of(0.5)}).size());
  CHECK_EQUAL(std::size_t{4096}, print("%.9999d", {1}).size());
  CHECK_EQUAL(std::size_t{309 + 1 + 4096}, print("%.9999f", {bits_of(1.7e308)}).size());
}

TEST("negative widths align left, negative precisions count for nothing") {
  CHECK_EQUAL(std::string("7   |text"), print("%*d|%.*s", {0xfffffffcu, 7, 0xffffffffu, 1}));
}

TEST("formats that end early or name nothing known stay as they are") {
  for (const char* format : {"%", "%5", "%-+ #0", "%.*q", "%ll", "100%!", "%y"}) {
    CHECK_EQUAL(std::string(format), print(format));
  }
  CHECK_EQUAL(std::string("%"), print("%%"));
  CHECK_EQUAL(std::string("a"), print("%na", {1}));
}
