// Buffers as the request sees them: poison, guards, offsets, aliases.
#include "sim/device_memory.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;
using sim::DeviceMemory;

namespace {

BufferSpec buffer_spec(const std::string& name, std::uint64_t bytes) {
  BufferSpec spec;
  spec.name = name;
  spec.bytes = bytes;
  return spec;
}

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST("a buffer starts as zeros, or as its poison from its first byte") {
  DeviceMemory memory;
  memory.create_buffer(buffer_spec("plain", 5));
  CHECK(Bytes(5) == memory.read("plain"));
  BufferSpec poisoned = buffer_spec("poisoned", 5);
  poisoned.poison = {1, 2, 3};
  poisoned.guard_bytes = 10;
  memory.create_buffer(poisoned);
  CHECK((Bytes{1, 2, 3, 1, 2}) == memory.read("poisoned"));
}

TEST("an offset shifts the address, and allocations lie 2^40 bytes apart") {
  DeviceMemory memory;
  memory.create_buffer(buffer_spec("a", 64));
  BufferSpec shifted = buffer_spec("b", 64);
  shifted.offset_bytes = 12;
  memory.create_buffer(shifted);
  CHECK_EQUAL(std::uint64_t{1} << 40, memory.address_of("a"));
  CHECK_EQUAL((std::uint64_t{2} << 40) + 12, memory.address_of("b"));
  CHECK_EQUAL(12u, reinterpret_cast<std::uintptr_t>(memory.allocations()[2].host) % 256);
}

TEST("a changed guard byte is seen on either side") {
  for (const std::int64_t at : {-1, -40, 16, 16 + 39}) {
    DeviceMemory memory;
    BufferSpec spec = buffer_spec("a", 16);
    spec.guard_bytes = 40;
    spec.poison = {0xfc, 0x7f};
    memory.create_buffer(spec);
    CHECK(memory.guards_intact("a"));
    memory.write("a", Bytes(16, 9));
    CHECK(memory.guards_intact("a"));
    memory.allocations()[1].host[at] = 1;
    CHECK(!memory.guards_intact("a"));
  }
}

TEST("poisoning again fills buffer and guards, and mends a changed guard") {
  DeviceMemory memory;
  BufferSpec spec = buffer_spec("a", 5);
  spec.guard_bytes = 40;
  spec.poison = {1, 2, 3};
  memory.create_buffer(spec);
  std::uint8_t* const first = memory.allocations()[1].host;
  memory.write("a", Bytes(5, 9));
  first[-1] = 0, first[5] = 0;
  memory.poison("a", std::nullopt);
  CHECK((Bytes{1, 2, 3, 1, 2}) == memory.read("a"));
  CHECK_EQUAL(3, int{first[-1]});
  CHECK(memory.guards_intact("a"));
}

TEST("another poison stays, and guards are held against it") {
  DeviceMemory memory;
  BufferSpec spec = buffer_spec("a", 4);
  spec.guard_bytes = 40;
  spec.poison = {1};
  memory.create_buffer(spec);
  memory.poison("a", Bytes{7, 8});
  CHECK((Bytes{7, 8, 7, 8}) == memory.read("a"));
  CHECK_EQUAL(8, int{memory.allocations()[1].host[-1]});
  CHECK(memory.guards_intact("a"));
  memory.poison("a", std::nullopt);
  CHECK((Bytes{7, 8, 7, 8}) == memory.read("a"));
  memory.allocations()[1].host[-1] = 1;
  CHECK(!memory.guards_intact("a"));
}

TEST("a kernel's access to a guard is a fault") {
  Kernel kernel(1, "st.global.u32 [%x0+16], 1;");
  kernel.buffer("y", Words(4));
  CHECK(FaultKind::illegal_address == kernel.fault(1).kind);
  CHECK(kernel.device().guards_intact("y"));
}

TEST("an alias is a part of the other buffer") {
  DeviceMemory memory;
  memory.create_buffer(buffer_spec("a", 8));
  BufferSpec alias = buffer_spec("b", 4);
  alias.alias = "a";
  alias.offset_bytes = 4;
  memory.create_buffer(alias);
  memory.write("b", {1, 2, 3, 4});
  CHECK((Bytes{0, 0, 0, 0, 1, 2, 3, 4}) == memory.read("a"));
  CHECK_EQUAL(memory.address_of("a") + 4, memory.address_of("b"));
  alias.name = "c";
  alias.bytes = 5;
  CHECK_THROWS(Fault, memory.create_buffer(alias));
}

TEST("wrong uses of buffers are refused") {
  DeviceMemory memory;
  memory.create_buffer(buffer_spec("a", 8));
  CHECK_THROWS(Fault, memory.create_buffer(buffer_spec("a", 8)));
  CHECK_THROWS(Fault, memory.write("a", Bytes(7)));
  CHECK_THROWS(Fault, memory.read("b"));
  CHECK_THROWS(Fault, memory.create_buffer(buffer_spec("huge", std::uint64_t{1} << 60)));
}

TEST("what was written since a snapshot is put back") {
  DeviceMemory memory;
  memory.create_buffer(buffer_spec("a", 4));
  {
    const sim::RestoreMemory restore(memory);
    memory.write("a", {1, 2, 3, 4});
  }
  CHECK(Bytes(4) == memory.read("a"));
}
