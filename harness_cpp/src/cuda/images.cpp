#include "cuda/images.hpp"

#include "cuda/fill.hpp"

namespace cudaopt::cuda {
namespace {

std::vector<const Buffer*> owners_of(const Memory& memory, const std::set<std::string>& buffers) {
  std::map<std::string, const Buffer*> owners;
  for (const std::string& name : buffers) {
    const Buffer& owner = memory.owner_of(name);
    owners[owner.spec.name] = &owner;
  }
  std::vector<const Buffer*> list;
  for (const auto& [name, owner] : owners) list.push_back(owner);
  return list;
}

SlabLayout layout_of(const std::vector<const Buffer*>& owners) {
  std::vector<BufferSpec> specs;
  for (const Buffer* owner : owners) specs.push_back(owner->spec);
  return slab_layout(specs);
}

}  // namespace

Images::Images(const Context& context, const Memory& memory, const std::set<std::string>& buffers)
    : m_context(context), m_memory(memory) {
  const std::vector<const Buffer*> owners = owners_of(memory, buffers);
  m_layout = layout_of(owners);
  // Also of those that are named by an alias only: contents are said of owners.
  m_offsets = m_layout.offsets;
  for (const std::string& name : buffers) {
    const Buffer& owner = memory.owner_of(name);
    m_offsets[name] =
        m_layout.offsets.at(owner.spec.name) + (memory.find(name).pointer - owner.pointer);
  }
  make_first(owners);
}

void Images::make_first(const std::vector<const Buffer*>& owners) {
  m_images.push_back(allocate_plain(m_context, m_layout.slab_bytes(),
                                    "the contents that timed launches start from"));
  for (const Buffer* owner : owners) {
    const std::uint64_t offset = m_layout.offsets.at(owner->spec.name);
    const DevicePointer to = m_images[0]->base() + offset;
    m_parts.push_back({offset, owner->spec.bytes, owner->has_contents ? owner->spec.name : "",
                       owner->has_contents ? std::vector<std::uint8_t>{} : owner->spec.poison});
    if (!owner->has_contents) {
      fill_async(m_context, to, owner->spec.bytes, owner->spec.poison);
    } else if (owner->spec.bytes > 0) {
      CUDAOPT_CUDA(m_context.driver(), copy_on_device_async, to, owner->pointer, owner->spec.bytes,
                   m_context.stream());
    }
  }
  m_context.synchronize_own_work("copying the buffers for timed launches");
}

bool Images::starts_like(const Images& other) const {
  return m_layout.content_bytes == other.m_layout.content_bytes && m_parts == other.m_parts;
}

int Images::add(const FileContents& changed) {
  auto image =
      allocate_plain(m_context, m_layout.slab_bytes(), "other contents for timed launches");
  enqueue_restore(0, image->base());
  for (const auto& [name, file] : changed) {
    const auto offset = m_offsets.find(name);
    // No launch reads a buffer that is none of its arguments.
    if (offset == m_offsets.end()) continue;
    m_memory.copy_file(image->base() + offset->second, file);
  }
  // From pageable memory, copies to the GPU may return before they are done.
  m_context.synchronize_own_work("copying other contents for timed launches");
  m_images.push_back(std::move(image));
  return count() - 1;
}

void Images::enqueue_restore(int content, DevicePointer slab) const {
  if (m_layout.content_bytes == 0) return;
  const DevicePointer from = m_images.at(static_cast<std::size_t>(content))->base();
  CUDAOPT_CUDA(m_context.driver(), copy_on_device_async, slab, from, m_layout.content_bytes,
               m_context.stream());
}

PointerOf Images::pointers_in(DevicePointer slab) const {
  return [this, slab](const std::string& name) { return slab + m_offsets.at(name); };
}

}  // namespace cudaopt::cuda
