#include "cuda/images.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// "x" of 1, 2, 3, 4 with "tail", its second half, and "y" that nothing was written to.
struct Buffers {
  Buffers() : memory(gpu.context()) {
    memory.create(buffer_of("x", 16, Access::read));
    memory.write("x", bytes_of({1, 2, 3, 4}));
    BufferSpec tail = buffer_of("tail", 8, Access::read);
    tail.alias = "x";
    tail.offset_bytes = 8;
    memory.create(tail);
    BufferSpec y = buffer_of("y", 8, Access::write);
    y.poison = bytes_of({-5});
    memory.create(y);
  }

  // What `buffer` holds once image `content` was restored, in a slab that is shifted.
  [[nodiscard]] std::vector<float> restored(const cuda::Images& images, int content,
                                            const std::string& buffer) const {
    const auto slab = cuda::allocate_plain(gpu.context(), images.layout().slab_bytes(), "a test");
    const cuda::DevicePointer shifted = slab->base() + cuda::kShiftBytes;
    images.enqueue_restore(content, shifted);
    gpu.context().synchronize("a test");
    std::vector<float> values(memory.find(buffer).spec.bytes / 4);
    CUDAOPT_CUDA(gpu.context().driver(), copy_to_host, values.data(),
                 images.pointers_in(shifted)(buffer), 4 * values.size());
    return values;
  }

  Gpu gpu;
  cuda::Memory memory;
};

}  // namespace

TEST("the first image holds what buffers hold now, or their poison, and aliases their part of it") {
  const Buffers buffers;
  const cuda::Images images(buffers.gpu.context(), buffers.memory, {"tail", "x", "y"});
  CHECK((buffers.restored(images, 0, "x") == std::vector<float>{1, 2, 3, 4}));
  CHECK((buffers.restored(images, 0, "tail") == std::vector<float>{3, 4}));
  CHECK((buffers.restored(images, 0, "y") == std::vector<float>{-5, -5}));
}

TEST("an alias brings its owner along") {
  const Buffers buffers;
  const cuda::Images images(buffers.gpu.context(), buffers.memory, {"tail"});
  CHECK((buffers.restored(images, 0, "tail") == std::vector<float>{3, 4}));
}

TEST("a further image differs where it is said to, and buffers that are not used do not count") {
  const Buffers buffers;
  cuda::Images images(buffers.gpu.context(), buffers.memory, {"x", "y"});
  const int other = images.add(
      {{"x", content_of(bytes_of({9, 8, 7, 6}))}, {"elsewhere", content_of(bytes_of({1}))}});
  CHECK_EQUAL(1, other);
  CHECK_EQUAL(2, images.count());
  CHECK((buffers.restored(images, other, "x") == std::vector<float>{9, 8, 7, 6}));
  CHECK((buffers.restored(images, other, "y") == std::vector<float>{-5, -5}));
  CHECK((buffers.restored(images, 0, "x") == std::vector<float>{1, 2, 3, 4}));
}

TEST("contents of an owner reach launches that name only an alias of it") {
  const Buffers buffers;
  cuda::Images images(buffers.gpu.context(), buffers.memory, {"tail"});
  const int other = images.add({{"x", content_of(bytes_of({9, 8, 7, 6}))}});
  CHECK((buffers.restored(images, other, "tail") == std::vector<float>{7, 6}));
}
