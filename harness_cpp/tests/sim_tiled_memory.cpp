// Buffers that hold one tile over and over, as kernels and steps see them.
#include <fstream>

#include "sim/device_memory.hpp"
#include "sim/tiled_memory.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

constexpr std::uint32_t kTileWords = 3 << 14;  // 192 KiB
constexpr std::uint64_t kLargeBytes = (std::uint64_t{1} << 34) + 4;

BufferSpec tiled(std::uint64_t bytes, std::uint64_t offset_bytes = 0) {
  BufferSpec spec;
  spec.name = "x";
  spec.bytes = bytes;
  spec.access = Access::read;
  spec.element_bytes = 4;
  spec.offset_bytes = offset_bytes;
  spec.guard_bytes = 256;
  spec.tile = to_bytes(counting(kTileWords, 7));
  return spec;
}

std::uint32_t word_at(std::uint64_t index) {
  return static_cast<std::uint32_t>(index % kTileWords + 7);
}

std::string load_word(std::uint64_t byte) {
  return "mov.u64 %rd1, " + std::to_string(byte) +
         ";\nadd.s64 %rd1, %rd1, %x0;\nld.global.u32 %r1, [%rd1];\n";
}

// A kernel on the buffer x, and y of one word.
Kernel kernel_on(const BufferSpec& x, const std::string& body) {
  Kernel kernel(2, body);
  kernel.device().create_buffer(x);
  kernel.argument("x").buffer("y", Words(1));
  return kernel;
}

Words read_by_kernel(const BufferSpec& x, std::uint64_t byte) {
  Kernel kernel = kernel_on(x, load_word(byte) + "st.global.u32 [%x1], %r1;");
  kernel.run(1);
  return kernel.read("y");
}

std::uint64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  throw check::Failure("no VmRSS");
}

}  // namespace

TEST("a kernel reads the tile's words at the beginning, in the middle and at the end of 16 GiB") {
  const std::uint64_t words = kLargeBytes / 4;
  for (const std::uint64_t index :
       {std::uint64_t{0}, std::uint64_t{1} << 31, words / 2 + 12345, words - 1}) {
    CHECK_WORDS(Words{word_at(index)}, read_by_kernel(tiled(kLargeBytes), 4 * index));
  }
}

TEST("16 GiB of tiles take the memory of a few") {
  const std::uint64_t before = resident_kib();
  sim::DeviceMemory memory;
  memory.create_buffer(tiled(kLargeBytes));
  CHECK_EQUAL(7u, static_cast<std::uint32_t>(*memory.allocations()[1].host));
  CHECK(resident_kib() < before + (32 << 10));
}

TEST("a tiled buffer that is cut off within a tile reads as the tile again and again") {
  sim::DeviceMemory memory;
  memory.create_buffer(tiled(4 * (2 * kTileWords + 5)));
  const Words got = to_words(memory.read("x"));
  for (std::size_t i = 0; i < got.size(); ++i) CHECK_EQUAL(word_at(i), got[i]);
}

TEST("an offset shifts a tiled buffer's address and leaves its contents") {
  sim::DeviceMemory memory;
  memory.create_buffer(tiled(4 * kTileWords + 8, 12));
  CHECK_EQUAL((std::uint64_t{1} << 40) + 12, memory.address_of("x"));
  CHECK_EQUAL(12u, reinterpret_cast<std::uintptr_t>(memory.allocations()[1].host) % 256);
  const Words got = to_words(memory.read("x"));
  CHECK_EQUAL(word_at(0), got.front());
  CHECK_EQUAL(word_at(kTileWords + 1), got.back());
}

TEST("a kernel's write to a tiled buffer is a fault") {
  Kernel kernel = kernel_on(tiled(kLargeBytes), "st.global.u32 [%x0+4], 1;");
  CHECK(FaultKind::write_to_input == kernel.fault(1).kind);
}

TEST("a kernel's read before or behind a tiled buffer is a fault") {
  for (const std::uint64_t byte : {kLargeBytes, std::uint64_t{0} - 4}) {
    const FaultDetail fault = kernel_on(tiled(kLargeBytes), load_word(byte)).fault(1);
    CHECK(FaultKind::illegal_address == fault.kind);
    CHECK_EQUAL(std::string("x"), fault.buffer);
  }
}

TEST("no step writes to tiles, and poison passes them by") {
  sim::DeviceMemory memory;
  memory.create_buffer(tiled(8));
  CHECK_THROWS(Fault, memory.write("x", std::vector<std::uint8_t>(8)));
  CHECK_THROWS(Fault, memory.fill("x", {1}));
  memory.poison("x", std::vector<std::uint8_t>{1});
  CHECK_WORDS((Words{7, 8}), to_words(memory.read("x")));
  CHECK(memory.guards_intact("x"));
}

TEST("an alias of tiles may be read and not written") {
  sim::DeviceMemory memory;
  memory.create_buffer(tiled(16));
  BufferSpec alias;
  alias.name = "z";
  alias.bytes = 4;
  alias.alias = "x";
  alias.offset_bytes = 8;
  CHECK_THROWS(Fault, memory.create_buffer(alias));
  alias.access = Access::read;
  memory.create_buffer(alias);
  CHECK_WORDS((Words{9}), to_words(memory.read("z")));
}

TEST("an empty tiled buffer has an address and no element") {
  sim::DeviceMemory memory;
  memory.create_buffer(tiled(0));
  CHECK(memory.read("x").empty());
}

TEST("tiles that no address space is left for are out of memory") {
  try {
    const sim::TiledMemory memory("x", std::vector<std::uint8_t>(1 << 16), std::uint64_t{1} << 60,
                                  0);
  } catch (const Fault& fault) {
    CHECK(FaultKind::out_of_memory == fault.detail().kind);
    return;
  }
  throw check::Failure("2^60 bytes were mapped");
}
