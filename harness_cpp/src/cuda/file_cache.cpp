#include "cuda/file_cache.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cudaopt::cuda {
namespace {

constexpr std::uint64_t kMemoryShare = 8;
// Memory between guard pages comes in pages of 2 MiB, and a file below this is read in no time.
constexpr std::uint64_t kFewestBytes = 1 << 16;

}  // namespace

void upload(const Context& context, DevicePointer to, const std::vector<std::uint8_t>& bytes) {
  if (bytes.empty()) return;
  CUDAOPT_CUDA(context.driver(), copy_to_device, to, bytes.data(), bytes.size());
}

FileCache::FileCache(const Context& context)
    : m_context(context), m_most_bytes(context.facts().gpu.value().memory_bytes / kMemoryShare) {
  context.set_spare(this);
}

FileCache::~FileCache() { m_context.set_spare(nullptr); }

void FileCache::copy(DevicePointer to, const FileContent& file) {
  // Before it is read: of a file that changes meanwhile, nothing later has this identity.
  const std::optional<FileIdentity> key = key_of(file);
  if (!key) return upload(m_context, to, file.read());
  if (const Allocation* held = find(*key)) {
    CUDAOPT_CUDA(m_context.driver(), copy_on_device_async, to, held->base(), file.bytes,
                 m_context.stream());
    return;
  }
  upload(m_context, to, file.read());
  keep(*key, to);
}

std::uint64_t FileCache::bytes() const {
  std::uint64_t sum = 0;
  for (const Entry& entry : m_entries) sum += entry.memory->bytes();
  return sum;
}

std::optional<FileIdentity> FileCache::key_of(const FileContent& file) const {
  if (!m_context.has_guard_pages() || file.path.empty()) return std::nullopt;
  if (file.bytes < kFewestBytes || file.bytes > m_most_bytes) return std::nullopt;
  const std::optional<FileIdentity> found = identity_of(file.path);
  return found && found->bytes == file.bytes ? found : std::nullopt;
}

const Allocation* FileCache::find(const FileIdentity& file) {
  const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                  [&](const Entry& entry) { return entry.file == file; });
  if (found == m_entries.end()) return nullptr;
  m_entries.splice(m_entries.begin(), m_entries, found);
  return found->memory.get();
}

void FileCache::keep(const FileIdentity& file, DevicePointer from) {
  m_entries.remove_if([&](const Entry& entry) { return entry.file.path == file.path; });
  while (!m_entries.empty() && bytes() + file.bytes > m_most_bytes) m_entries.pop_back();
  try {
    auto memory = allocate_between_guard_pages(m_context, file.bytes, "keeping a file");
    CUDAOPT_CUDA(m_context.driver(), copy_on_device_async, memory->base(), from, file.bytes,
                 m_context.stream());
    memory->set_read_only(true);  // once the copy is done
    m_entries.push_front({file, std::move(memory)});
  } catch (const Fault& fault) {
    // The next request reads the file again.
    if (fault.detail().kind != FaultKind::out_of_memory) throw;
  }
}

}  // namespace cudaopt::cuda
