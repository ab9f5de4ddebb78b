// Where in its memory each buffer lies: against the page behind it, or between zones.
#include "cuda/memory.hpp"

#include <algorithm>
#include <utility>

#include "cuda/fill.hpp"

namespace cudaopt::cuda {
namespace {

// What cudaMalloc promises, and what the widest vector access needs.
constexpr std::uint64_t kAlignment = 256, kVectorAlignment = 32;
// Of the memory before a buffer; a whole page of it would take longer to read than the kernel runs.
constexpr std::uint64_t kMostGuardBytes = 1 << 16;

std::uint64_t aligned_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

std::uint64_t zone_bytes(const BufferSpec& spec) {
  return aligned_up(spec.guard_bytes, kAlignment);
}

// The last address the buffer can start at.
DevicePointer flush_pointer(const Allocation& memory, const BufferSpec& spec) {
  const DevicePointer last = memory.base() + memory.bytes() - spec.bytes;
  if (spec.offset_bytes == 0) return last / kVectorAlignment * kVectorAlignment;
  return (last - spec.offset_bytes) / kAlignment * kAlignment + spec.offset_bytes;
}

// How much of the memory before a buffer is filled and looked at.
std::uint64_t front_bytes(const Buffer& buffer) {
  return std::min(buffer.pointer - buffer.memory->base(),
                  std::max(kMostGuardBytes, zone_bytes(buffer.spec)));
}

// All that is mapped behind its first byte: the buffer and the zone after it.
std::uint64_t bytes_to_end(const Buffer& buffer) {
  return buffer.memory->base() + buffer.memory->bytes() - buffer.pointer;
}

// Every byte equals the one a whole number of patterns before it, once the first pattern is right.
bool is_repeated(const std::vector<std::uint8_t>& bytes, const std::vector<std::uint8_t>& pattern,
                 std::uint64_t phase) {
  const std::vector<std::uint8_t> zero(1);
  const std::vector<std::uint8_t>& bits = pattern.empty() ? zero : pattern;
  const std::size_t first = std::min(bytes.size(), bits.size());
  for (std::size_t i = 0; i < first; ++i) {
    if (bytes[i] != bits[(phase + i) % bits.size()]) return false;
  }
  return std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.end(), bytes.begin());
}

[[noreturn]] void reject_tiled(const std::string& name) {
  throw Fault(FaultKind::invalid_request,
              "buffer '" + name +
                  "': it holds one tile again and again, which nothing may write. "
                  "Use an \"initial_file\".");
}
}  // namespace

void Memory::create(const BufferSpec& spec) {
  Buffer buffer;
  buffer.spec = spec;
  if (!spec.alias.empty()) {
    buffer = alias_of(spec);
  } else if (spec.guard_bytes > 0 && m_context.has_guard_pages()) {
    const std::uint64_t bytes = zone_bytes(spec) + spec.offset_bytes + spec.bytes + kAlignment;
    buffer.owned = allocate_between_guard_pages(m_context, bytes, label_of(spec));
    buffer.memory = buffer.owned.get();
    buffer.pointer = flush_pointer(*buffer.memory, spec);
  } else {
    const std::uint64_t bytes = 2 * zone_bytes(spec) + spec.offset_bytes + spec.bytes;
    buffer.owned = allocate_plain(m_context, bytes, label_of(spec));
    buffer.memory = buffer.owned.get();
    buffer.pointer = buffer.memory->base() + zone_bytes(spec) + spec.offset_bytes;
  }
  const bool owns = !buffer.is_alias();
  const DevicePointer pointer = buffer.pointer;
  buffer.spec.tile.clear();  // in the GPU's memory it is enough
  m_buffers.insert_or_assign(spec.name, std::move(buffer));
  if (owns) poison(spec.name, std::nullopt);
  if (spec.tile.empty()) return;
  fill_async(m_context, pointer, spec.bytes, spec.tile);
  m_buffers.at(spec.name).has_contents = true;
  m_buffers.at(spec.name).is_tiled = true;
}

Buffer Memory::alias_of(const BufferSpec& spec) const {
  const Buffer& whole = find(spec.alias);
  const std::uint64_t bytes = whole.spec.bytes;
  if (spec.offset_bytes > bytes || spec.bytes > bytes - spec.offset_bytes) {
    throw Fault(FaultKind::invalid_request,
                "buffer '" + spec.name + "': " + std::to_string(spec.bytes) + " bytes at offset " +
                    std::to_string(spec.offset_bytes) + " do not fit in '" + spec.alias + "' of " +
                    std::to_string(bytes) + " bytes");
  }
  if (spec.access != Access::read && owner_of(spec.alias).is_tiled) reject_tiled(spec.name);
  Buffer alias;
  alias.spec = spec;
  alias.memory = whole.memory;
  alias.pointer = whole.pointer + spec.offset_bytes;
  return alias;
}

void Memory::write(const std::string& name, const std::vector<std::uint8_t>& bytes) {
  upload(m_context, open_for_contents(name), bytes);
}

void Memory::write_file(const std::string& name, const FileContent& file) {
  copy_file(open_for_contents(name), file);
}

void Memory::copy_file(DevicePointer to, const FileContent& file) const {
  if (m_files != nullptr) return m_files->copy(to, file);
  upload(m_context, to, file.read());
}

std::vector<std::uint8_t> Memory::read(const std::string& name) const {
  const Buffer& buffer = find(name);
  std::vector<std::uint8_t> bytes(buffer.spec.bytes);
  if (bytes.empty()) return bytes;
  CUDAOPT_CUDA(m_context.driver(), copy_to_host, bytes.data(), buffer.pointer, bytes.size());
  return bytes;
}

void Memory::fill(const std::string& name, const std::vector<std::uint8_t>& pattern) {
  fill_async(m_context, open_for_contents(name), find(name).spec.bytes, pattern);
}

void Memory::poison(const std::string& name,
                    const std::optional<std::vector<std::uint8_t>>& pattern) {
  Buffer& buffer = owner_of(name);
  if (buffer.is_tiled) return;
  buffer.memory->set_read_only(false);
  if (pattern) buffer.spec.poison = *pattern;
  buffer.has_contents = false;
  const std::uint64_t front = front_bytes(buffer);
  fill_async(m_context, buffer.pointer - front, front, buffer.spec.poison);
  fill_async(m_context, buffer.pointer, bytes_to_end(buffer), buffer.spec.poison);
}

bool Memory::guards_intact(const std::string& name) const {
  const Buffer& buffer = owner_of(name);
  std::vector<std::uint8_t> front(front_bytes(buffer)),
      back(bytes_to_end(buffer) - buffer.spec.bytes);
  const Driver& driver = m_context.driver();
  if (!front.empty()) {
    CUDAOPT_CUDA(driver, copy_to_host, front.data(), buffer.pointer - front.size(), front.size());
  }
  if (!back.empty()) {
    CUDAOPT_CUDA(driver, copy_to_host, back.data(), buffer.pointer + buffer.spec.bytes,
                 back.size());
  }
  return is_repeated(front, buffer.spec.poison, 0) &&
         is_repeated(back, buffer.spec.poison, buffer.spec.bytes);
}

// A buffer that something may write under another name stays writable.
void Memory::protect_inputs() {
  std::map<Allocation*, bool> writable;
  for (const auto& [name, buffer] : m_buffers) {
    writable[buffer.memory] = writable[buffer.memory] || buffer.spec.access != Access::read;
  }
  for (const auto& [memory, is_writable] : writable) memory->set_read_only(!is_writable);
}

const Buffer& Memory::find(const std::string& name) const {
  const auto found = m_buffers.find(name);
  if (found != m_buffers.end()) return found->second;
  throw Fault(FaultKind::invalid_request, "there is no buffer \"" + name + "\".");
}

const Buffer& Memory::owner_of(const std::string& name) const {
  const Buffer* buffer = &find(name);
  while (buffer->is_alias()) buffer = &find(buffer->spec.alias);
  return *buffer;
}

Buffer& Memory::owner_of(const std::string& name) {
  return m_buffers.at(std::as_const(*this).owner_of(name).spec.name);
}

DevicePointer Memory::open_for_contents(const std::string& name) {
  Buffer& owner = owner_of(name);
  if (owner.is_tiled) reject_tiled(name);
  owner.memory->set_read_only(false);
  owner.has_contents = true;
  return find(name).pointer;
}

std::string Memory::label_of(const BufferSpec& spec) const {
  std::uint64_t held = 0;
  for (const auto& [name, buffer] : m_buffers) {
    if (!buffer.is_alias()) held += buffer.memory->bytes();
  }
  std::string label = "buffer '" + spec.name + "'";
  if (held > 0) label += " (beside " + std::to_string(held) + " bytes of earlier buffers)";
  return label;
}

}  // namespace cudaopt::cuda
