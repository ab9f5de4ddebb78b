// What kernels get of their arguments.
#include "argument_bytes.hpp"

#include "check.hpp"

using namespace cudaopt;

namespace {

Argument buffer(const std::string& name, std::uint32_t offset = 0) {
  Argument argument;
  argument.kind = Argument::Kind::buffer;
  argument.buffer = name;
  argument.offset = offset;
  return argument;
}

// {const float* x; int n; float* y;} with 4 bytes between the last two.
Argument structure() {
  Argument n;
  n.kind = Argument::Kind::scalar;
  n.bytes = {7, 0, 0, 0};
  n.offset = 8;
  Argument whole;
  whole.kind = Argument::Kind::structure;
  whole.bytes.resize(24);
  whole.members = {buffer("x", 0), n, buffer("y", 16)};
  return whole;
}

std::uint64_t address_of(const std::string& name) { return name == "x" ? 0x1122 : 0x33; }

}  // namespace

TEST("a buffer is its address, a null pointer is zero, a scalar is its bytes") {
  const std::vector<std::uint8_t> x = {0x22, 0x11, 0, 0, 0, 0, 0, 0};
  CHECK(x == argument_bytes(buffer("x"), address_of));
  CHECK(std::vector<std::uint8_t>(8) == argument_bytes({}, address_of));
  CHECK(structure().members[1].bytes == argument_bytes(structure().members[1], address_of));
}

TEST("members of a struct lie at their offsets, with zeros between them") {
  const std::vector<std::uint8_t> expected = {0x22, 0x11, 0, 0, 0,    0, 0, 0, 7, 0, 0, 0,
                                              0,    0,    0, 0, 0x33, 0, 0, 0, 0, 0, 0, 0};
  CHECK(expected == argument_bytes(structure(), address_of));
}

TEST("buffers that members of a struct point to are buffers of the launch") {
  const std::vector<std::string> expected = {"z", "x", "y"};
  CHECK(expected == buffers_of({buffer("z"), structure(), {}}));
}
