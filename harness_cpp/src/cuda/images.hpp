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
  int add(const Contents& changed);
  [[nodiscard]] int count() const { return static_cast<int>(m_images.size()); }
  [[nodiscard]] const SlabLayout& layout() const { return m_layout; }

  // Queues `slab` becoming what image `content` is.
  void enqueue_restore(int content, DevicePointer slab) const;
  // Where the buffers are in `slab`; to be used while this lives.
  [[nodiscard]] PointerOf pointers_in(DevicePointer slab) const;

 private:
  void make_first(const std::vector<const Buffer*>& owners);

  const Context& m_context;
  SlabLayout m_layout;
  std::map<std::string, std::uint64_t> m_offsets;  // of owners and of aliases
  std::vector<std::unique_ptr<Allocation>> m_images;
};

}  // namespace cudaopt::cuda
