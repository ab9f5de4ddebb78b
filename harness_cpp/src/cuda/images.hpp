// What the buffers of a launch hold before it: one pristine image per contents, in the GPU's
// memory. The buffers of the request themselves are only read.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"
#include "cuda/kernel.hpp"
#include "cuda/memory.hpp"
#include "cuda/slab_layout.hpp"

namespace cudaopt::cuda {

class Images {
 public:
  // Image 0: what `buffers` hold now, and poison where nothing was ever written. Throws Fault
  // out_of_memory, as `add` does.
  Images(const Context& context, const Memory& memory, const std::set<std::string>& buffers);

  // An image like 0 but for `changed`; its number.
  int add(const FileContents& changed);
  [[nodiscard]] int count() const { return static_cast<int>(m_images.size()); }
  [[nodiscard]] const SlabLayout& layout() const { return m_layout; }
  // Whether image 0 is byte for byte that of `other`: names may differ where there is only poison.
  [[nodiscard]] bool starts_like(const Images& other) const;

  // Queues `slab` becoming what image `content` is.
  void enqueue_restore(int content, DevicePointer slab) const;
  // Where the buffers are in `slab`; to be used while this lives.
  [[nodiscard]] PointerOf pointers_in(DevicePointer slab) const;

 private:
  // What image 0 is made of.
  struct Part {
    std::uint64_t offset = 0, bytes = 0;
    std::string contents_of;  // empty: poison
    std::vector<std::uint8_t> poison;
    bool operator==(const Part& other) const {
      return offset == other.offset && bytes == other.bytes && contents_of == other.contents_of &&
             poison == other.poison;
    }
  };

  void make_first(const std::vector<const Buffer*>& owners);

  const Context& m_context;
  const Memory& m_memory;
  SlabLayout m_layout;
  std::map<std::string, std::uint64_t> m_offsets;  // of owners and of aliases
  std::vector<Part> m_parts;
  std::vector<std::unique_ptr<Allocation>> m_images;
};

}  // namespace cudaopt::cuda
