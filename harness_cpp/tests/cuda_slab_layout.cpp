#include "check.hpp"
#include "cuda/slab_layout.hpp"

using namespace cudaopt;
using namespace cudaopt::cuda;

namespace {

BufferSpec buffer(const char* name, std::uint64_t bytes, std::uint64_t offset_bytes = 0) {
  BufferSpec spec;
  spec.name = name;
  spec.bytes = bytes;
  spec.offset_bytes = offset_bytes;
  return spec;
}

}  // namespace

TEST("buffers in a slab are aligned, keep their offsets and do not overlap") {
  const SlabLayout layout =
      slab_layout({buffer("a", 100), buffer("b", 512, 4), buffer("c", 0), buffer("d", 8)});
  CHECK_EQUAL(std::uint64_t{0}, layout.offsets.at("a"));
  CHECK_EQUAL(std::uint64_t{516}, layout.offsets.at("b"));
  CHECK_EQUAL(std::uint64_t{1536}, layout.offsets.at("c"));
  CHECK_EQUAL(std::uint64_t{1536}, layout.offsets.at("d"));
  CHECK_EQUAL(std::uint64_t{2048}, layout.content_bytes);
  CHECK_EQUAL(std::uint64_t{620}, layout.footprint_bytes);
}

TEST("a shifted slab stays inside its memory, and slabs follow each other aligned") {
  const SlabLayout layout = slab_layout({buffer("a", 1000)});
  CHECK(layout.content_bytes + kShiftBytes <= layout.slab_bytes());
  CHECK_EQUAL(std::uint64_t{0}, layout.slab_bytes() % 512);
}

TEST("a kernel without buffers has an empty slab") {
  CHECK_EQUAL(std::uint64_t{0}, slab_layout({}).content_bytes);
}
