// What is read once and copied on the device from then on, and what is not.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cuda/file_cache.hpp"
#include "cuda/gpus.hpp"
#include "cuda/images.hpp"
#include "made_up_gpu.hpp"
#include "steps/files.hpp"
#include "temporary_folder.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

using Bytes = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

constexpr std::uint64_t kMib = 1 << 20;
constexpr std::uint64_t kLarge = 100'000, kSmall = 1000;

// Files, and how often they were read.
class Shelf {
 public:
  [[nodiscard]] std::string path(const std::string& name) const {
    return m_folder.path() + "/" + name;
  }

  void put(const std::string& name, std::uint8_t value, std::uint64_t bytes = kLarge) const {
    const Bytes content(bytes, value);
    steps::Files(m_folder.path()).write(name, content.data(), content.size(), "test");
  }

  FileContent file(const std::string& name) {
    const FileContent plain =
        steps::Files(m_folder.path()).content_of(name, fs::file_size(path(name)), "test");
    return {plain.path, plain.bytes, [this, plain] {
              ++reads;
              return plain.read();
            }};
  }

  int reads = 0;

 private:
  check::TemporaryFolder m_folder;
};

// What a request finds in a buffer that starts with `file`.
Bytes in_a_request(Gpu& gpu, const FileContent& file) {
  cuda::Memory memory(gpu.context(), &gpu.files());
  memory.create(buffer_of("x", file.bytes));
  memory.write_file("x", file);
  return memory.read("x");
}

Settings memory_of(std::uint64_t mib) { return {{"MEMORY_BYTES", std::to_string(mib * kMib)}}; }

// Where the last copy on the device went.
cuda::DevicePointer last_copy(const std::string& log) {
  std::ifstream lines(log);
  std::string line, at;
  while (std::getline(lines, line)) {
    if (line.rfind("copy of ", 0) == 0) at = line.substr(line.rfind(' ') + 1);
  }
  return std::stoull(at);
}

}  // namespace

TEST("a file is read by the first request, and is there for the next") {
  Gpu gpu;
  Shelf shelf;
  shelf.put("x", 7);
  for (int request = 0; request < 3; ++request) {
    CHECK(in_a_request(gpu, shelf.file("x")) == Bytes(kLarge, 7));
    CHECK_EQUAL(1, shelf.reads);
  }
}

TEST("a file that was written to, or replaced, is read again, and its old content forgotten") {
  Gpu gpu;
  Shelf shelf;
  shelf.put("x", 7);
  CHECK(in_a_request(gpu, shelf.file("x")) == Bytes(kLarge, 7));
  const std::uint64_t held = gpu.files().bytes();
  const auto written = fs::last_write_time(shelf.path("x"));
  shelf.put("x", 8);
  fs::last_write_time(shelf.path("x"), written + std::chrono::seconds(1));
  CHECK(in_a_request(gpu, shelf.file("x")) == Bytes(kLarge, 8));
  shelf.put("new", 9);
  fs::rename(shelf.path("new"), shelf.path("x"));
  fs::last_write_time(shelf.path("x"), written + std::chrono::seconds(1));
  CHECK(in_a_request(gpu, shelf.file("x")) == Bytes(kLarge, 9));
  shelf.put("x", 9, kLarge + 1);
  CHECK(in_a_request(gpu, shelf.file("x")) == Bytes(kLarge + 1, 9));
  CHECK_EQUAL(4, shelf.reads);
  CHECK_EQUAL(held, gpu.files().bytes());
}

TEST("a file that is gone is missed, though its content is held") {
  Gpu gpu;
  Shelf shelf;
  shelf.put("x", 7);
  const FileContent file = shelf.file("x");
  (void)in_a_request(gpu, file);
  fs::remove(shelf.path("x"));
  const FaultDetail fault = fault_of([&] { (void)in_a_request(gpu, file); });
  CHECK(FaultKind::invalid_request == fault.kind);
}

TEST("small files, those of no path, and any without guard pages are read every time") {
  for (const char* guard_pages : {"0", "1"}) {
    Gpu gpu(Settings{{"GUARD_PAGES", guard_pages}});
    Shelf shelf;
    const bool large = *guard_pages == '0';
    shelf.put("x", 7, large ? kLarge : kSmall);
    for (int request = 1; request < 3; ++request) {
      (void)in_a_request(gpu, shelf.file("x"));
      CHECK_EQUAL(request, shelf.reads);
    }
    CHECK(in_a_request(gpu, content_of(Bytes(kLarge, 3))) == Bytes(kLarge, 3));
    CHECK_EQUAL(0u, gpu.files().bytes());
  }
}

TEST("at most an eighth of the memory is held, of the files used last") {
  Gpu gpu(memory_of(64));
  Shelf shelf;
  const auto use = [&](const std::string& name) { (void)in_a_request(gpu, shelf.file(name)); };
  for (const char* name : {"a", "b", "c", "d", "e"}) shelf.put(name, 1);
  for (const char* name : {"a", "b", "c", "d", "a", "e"}) use(name);
  CHECK_EQUAL(8 * kMib, gpu.files().bytes());
  CHECK_EQUAL(5, shelf.reads);
  use("a");
  CHECK_EQUAL(5, shelf.reads);
  use("b");
  CHECK_EQUAL(6, shelf.reads);
}

TEST("a file larger than an eighth of the memory pushes no other out") {
  Gpu gpu(memory_of(64));
  Shelf shelf;
  shelf.put("x", 7);
  shelf.put("large", 7, 9 * kMib);
  (void)in_a_request(gpu, shelf.file("x"));
  (void)in_a_request(gpu, shelf.file("large"));
  CHECK_EQUAL(2 * kMib, gpu.files().bytes());
}

TEST("files make room for a request that needs all memory, and count as free") {
  for (const std::uint64_t guard_bytes : {0, 256}) {
    Gpu gpu(memory_of(64));
    Shelf shelf;
    const std::uint64_t free_bytes = gpu.free_bytes();
    shelf.put("x", 7);
    (void)in_a_request(gpu, shelf.file("x"));
    CHECK_EQUAL(2 * kMib, gpu.files().bytes());
    CHECK_EQUAL(free_bytes, gpu.free_bytes());
    cuda::Memory memory(gpu.context());
    BufferSpec all = buffer_of("all", free_bytes - 2 * guard_bytes);
    all.guard_bytes = guard_bytes;
    memory.create(all);
    CHECK_EQUAL(0u, gpu.files().bytes());
    const FaultDetail fault = fault_of([&] { memory.create(buffer_of("more", kMib)); });
    CHECK(FaultKind::out_of_memory == fault.kind);
  }
}

TEST("a file for which there is no room is written all the same") {
  Gpu gpu(memory_of(64));
  Shelf shelf;
  shelf.put("x", 7);
  cuda::Memory memory(gpu.context(), &gpu.files());
  memory.create(buffer_of("all", gpu.free_bytes()));
  BufferSpec part = buffer_of("x", kLarge);
  part.alias = "all";
  memory.create(part);
  memory.write_file("x", shelf.file("x"));
  CHECK(memory.read("x") == Bytes(kLarge, 7));
  CHECK_EQUAL(0u, gpu.files().bytes());
}

TEST("a kernel that finds what is held cannot write there") {
  Shelf shelf;
  Gpu gpu(Settings{{"LOG", shelf.path("log")}});
  shelf.put("x", 7);
  (void)in_a_request(gpu, shelf.file("x"));
  const cuda::DevicePointer held = last_copy(shelf.path("log"));
  CHECK(in_a_request(gpu, shelf.file("x")) == Bytes(kLarge, 7));
  CHECK(held != last_copy(shelf.path("log")));
  const cuda::LoadedModule module(gpu.context(), module_of("writes_input"));
  const auto output = cuda::allocate_plain(gpu.context(), 16, "a test");
  const cuda::KernelLaunch rogue(
      gpu.context(), module.function("writes_input"), launch_of("writes_input", 4),
      [&](const std::string& name) { return name == "x" ? held : output->base(); });
  rogue.enqueue();
  const FaultDetail fault = fault_of([&] { gpu.context().synchronize("a launch"); });
  CHECK(FaultKind::illegal_address == fault.kind);
}

TEST(
    "a reset and other contents of a measurement come from what is held, whatever buffers hold "
    "now") {
  Gpu gpu;
  Shelf shelf;
  shelf.put("x", 7);
  shelf.put("other", 8);
  cuda::Memory memory(gpu.context(), &gpu.files());
  memory.create(buffer_of("x", kLarge));
  memory.write_file("x", shelf.file("x"));
  memory.fill("x", {1});
  memory.write_file("x", shelf.file("x"));
  CHECK(memory.read("x") == Bytes(kLarge, 7));
  CHECK_EQUAL(1, shelf.reads);
  for (int measurement = 0; measurement < 2; ++measurement) {
    cuda::Images images(gpu.context(), memory, {"x"});
    const auto slab = cuda::allocate_plain(gpu.context(), images.layout().slab_bytes(), "a test");
    images.enqueue_restore(images.add({{"x", shelf.file("other")}}), slab->base());
    Bytes got(kLarge);
    CUDAOPT_CUDA(gpu.context().driver(), copy_to_host, got.data(),
                 images.pointers_in(slab->base())("x"), got.size());
    CHECK(got == Bytes(kLarge, 8));
    CHECK_EQUAL(2, shelf.reads);
  }
}

TEST("files are held from device to device of a GPU, and all is given back in the end") {
  const MadeUpDriver made_up;
  Shelf shelf;
  shelf.put("x", 7);
  {
    cuda::Gpus gpus(CUDAOPT_MADE_UP_DRIVER);
    for (int request = 0; request < 2; ++request) {
      const auto device = gpus.open(0);
      device->create_buffer(buffer_of("x", kLarge));
      device->write_file("x", shelf.file("x"));
      CHECK(device->read("x") == Bytes(kLarge, 7));
      CHECK_EQUAL(1, shelf.reads);
    }
  }
  CHECK_EQUAL(0, made_up.open_handles());
}
