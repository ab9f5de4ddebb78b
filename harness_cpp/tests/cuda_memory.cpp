// Where buffers lie in a GPU's memory, what protects them, and what of it is given back.
#include <algorithm>

#include "cuda/memory.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

constexpr std::uint64_t kPageBytes = 2u << 20;

BufferSpec guarded(const std::string& name, std::uint64_t bytes, std::uint64_t offset_bytes = 0) {
  BufferSpec spec = buffer_of(name, bytes);
  spec.guard_bytes = 256;
  spec.offset_bytes = offset_bytes;
  return spec;
}

// One byte of the buffer's allocation, changed as a kernel out of bounds would.
void change_byte(const Gpu& gpu, cuda::DevicePointer at) {
  CUDAOPT_CUDA(gpu.context().driver(), copy_to_device, at, "!", 1);
}

}  // namespace

TEST("a guarded buffer ends as close to the unmapped page as its alignment allows") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  for (const std::uint64_t bytes : {32, 36, 4096, 3 << 20, 1}) {
    const std::string name = "b" + std::to_string(bytes);
    memory.create(guarded(name, bytes));
    const cuda::DevicePointer pointer = memory.find(name).pointer;
    const std::uint64_t left = kPageBytes - (pointer + bytes) % kPageBytes;
    CHECK_EQUAL(0u, pointer % 32);
    CHECK_EQUAL((32 - bytes % 32) % 32, left % kPageBytes);
  }
}

TEST("an offset shifts the pointer from a multiple of 256") {
  for (const char* guard_pages : {"0", "1"}) {
    const Gpu either(Settings{{"GUARD_PAGES", guard_pages}});
    cuda::Memory memory(either.context());
    memory.create(guarded("x", 100, 4));
    CHECK_EQUAL(4u, memory.find("x").pointer % 256);
  }
}

TEST("without guards a buffer is a plain allocation, also where there are guard pages") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  memory.create(buffer_of("x", 4096));
  CHECK_EQUAL(memory.find("x").memory->base(), memory.find("x").pointer);
}

TEST("a new buffer holds its poison, and what is written to it is read again") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  memory.create(guarded("x", 6));
  CHECK(memory.read("x") == (std::vector<std::uint8_t>{0, 0, 0xc0, 0x7f, 0, 0}));
  memory.write("x", {1, 2, 3, 4, 5, 6});
  CHECK(memory.read("x") == (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  memory.fill("x", {7, 8, 9});
  CHECK(memory.read("x") == (std::vector<std::uint8_t>{7, 8, 9, 7, 8, 9}));
}

TEST("patterns of any length are repeated from the first byte, also at odd addresses") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  memory.create(guarded("x", 7, 1));
  for (const std::size_t length : {1, 2, 3, 4, 5, 8}) {
    std::vector<std::uint8_t> pattern(length), expected(7);
    for (std::size_t i = 0; i < length; ++i) pattern[i] = static_cast<std::uint8_t>(i + 1);
    for (std::size_t i = 0; i < 7; ++i) expected[i] = pattern[i % length];
    memory.fill("x", pattern);
    CHECK(expected == memory.read("x"));
  }
}

TEST("a changed byte beside the buffer, before or behind, is no intact guard") {
  for (const char* guard_pages : {"0", "1"}) {
    for (const int behind : {0, 1}) {
      const Gpu gpu(Settings{{"GUARD_PAGES", guard_pages}});
      cuda::Memory memory(gpu.context());
      memory.create(guarded("x", 33));
      memory.write("x", std::vector<std::uint8_t>(33, 1));
      CHECK(memory.guards_intact("x"));
      const cuda::DevicePointer pointer = memory.find("x").pointer;
      change_byte(gpu, behind == 1 ? pointer + 33 : pointer - 1);
      CHECK(!memory.guards_intact("x"));
      memory.poison("x", std::nullopt);
      CHECK(memory.guards_intact("x"));
    }
  }
}

TEST("another poison fills buffer and guards, and is what guards are held against") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  memory.create(guarded("x", 5));
  memory.poison("x", std::vector<std::uint8_t>{0, 0, 0x80, 0x3f});
  CHECK(memory.guards_intact("x"));
  CHECK(memory.read("x") == (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0}));
}

TEST("an alias shares its owner's memory") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  memory.create(buffer_of("x", 4));
  BufferSpec alias = buffer_of("y", 4);
  alias.alias = "x";
  memory.create(alias);
  memory.write("y", {1, 2, 3, 4});
  CHECK(memory.read("x") == (std::vector<std::uint8_t>{1, 2, 3, 4}));
  CHECK_EQUAL(memory.find("x").pointer, memory.find("y").pointer);
}

TEST("a buffer of tiles holds them over and over, whatever the steps do") {
  for (const char* guard_pages : {"0", "1"}) {
    const Gpu gpu(Settings{{"GUARD_PAGES", guard_pages}});
    cuda::Memory memory(gpu.context());
    BufferSpec spec = guarded("x", (5 << 15) + 3, 4);
    spec.access = Access::read;
    spec.tile.resize(1 << 16);
    for (std::size_t i = 0; i < spec.tile.size(); ++i) {
      spec.tile[i] = static_cast<std::uint8_t>(i % 251);
    }
    memory.create(spec);
    memory.poison("x", std::vector<std::uint8_t>{1});
    const std::vector<std::uint8_t> got = memory.read("x");
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(spec.tile[i % (1 << 16)] == got[i]);
    CHECK(memory.guards_intact("x"));
    CHECK_THROWS(Fault, memory.write("x", got));
    CHECK_THROWS(Fault, memory.fill("x", {1}));
  }
}

TEST("an alias of tiles may be read and not written") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  BufferSpec spec = buffer_of("x", 16);
  spec.access = Access::read;
  spec.tile.resize(1 << 16, 9);
  memory.create(spec);
  BufferSpec alias = buffer_of("y", 4);
  alias.alias = "x";
  alias.access = Access::read_write;
  CHECK_THROWS(Fault, memory.create(alias));
  alias.access = Access::read;
  memory.create(alias);
  CHECK(memory.read("y") == std::vector<std::uint8_t>(4, 9));
}

TEST("an alias that reaches beyond the buffer it shares is refused") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  memory.create(buffer_of("x", 16));
  BufferSpec alias = buffer_of("y", 8);
  alias.alias = "x";
  alias.offset_bytes = 8;
  memory.create(alias);
  alias.name = "z";
  alias.offset_bytes = 12;
  const FaultDetail fault = fault_of([&] { memory.create(alias); });
  CHECK(FaultKind::invalid_request == fault.kind);
  CHECK(says(fault, "'z': 8 bytes at offset 12"));
}

TEST("a pattern longer than what is copied at once is repeated too") {
  const Gpu gpu;
  cuda::Memory memory(gpu.context());
  std::vector<std::uint8_t> pattern((1 << 20) + 1);
  pattern.back() = 1;
  memory.create(buffer_of("x", pattern.size() + 2));
  memory.fill("x", pattern);
  const std::vector<std::uint8_t> got = memory.read("x");
  CHECK(std::equal(pattern.begin(), pattern.end(), got.begin()));
  CHECK(got[pattern.size()] == 0 && got[pattern.size() + 1] == 0);
}

TEST("memory that does not suffice says what needs how much and how much is free") {
  const Gpu gpu(Settings{{"MEMORY_BYTES", "33554432"}});
  cuda::Memory memory(gpu.context());
  for (const std::uint64_t guard_bytes : {0, 256}) {
    BufferSpec large = buffer_of("large", 64 << 20);
    large.guard_bytes = guard_bytes;
    const FaultDetail fault = fault_of([&] { memory.create(large); });
    CHECK(FaultKind::out_of_memory == fault.kind);
    CHECK(!fault.ends_process);
    CHECK(says(fault, "buffer 'large'"));
    CHECK(says(fault, std::to_string(gpu.free_bytes())));
  }
}

TEST("buffers give back all they took") {
  const Gpu gpu;
  const std::uint64_t before = gpu.free_bytes();
  const int handles = gpu.made_up().open_handles();
  {
    cuda::Memory memory(gpu.context());
    memory.create(guarded("x", 3 << 20));
    memory.create(buffer_of("y", 100));
    memory.create(guarded("empty", 0));
    CHECK(gpu.free_bytes() < before);
  }
  CHECK_EQUAL(before, gpu.free_bytes());
  CHECK_EQUAL(handles, gpu.made_up().open_handles());
}
