// Files that requests read, kept in the GPU's memory for the next ones: a case has the same inputs
// for every candidate.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"
#include "cuda/file_identity.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

// `to` becomes `bytes`.
void upload(const Context& context, DevicePointer to, const std::vector<std::uint8_t>& bytes);

// Holds at most an eighth of the memory, of large files alone, the last used ones, where no kernel
// can write; without guard pages nothing.
class FileCache final : public SpareMemory {
 public:
  explicit FileCache(const Context& context);
  ~FileCache() override;

  // Queues `to` becoming what `file` holds now. No kernel may be at work. Throws what reading it
  // throws.
  void copy(DevicePointer to, const FileContent& file);

  [[nodiscard]] std::uint64_t bytes() const override;
  void give_back() override { m_entries.clear(); }

 private:
  struct Entry {
    FileIdentity file;
    std::unique_ptr<Allocation> memory;
  };

  [[nodiscard]] std::optional<FileIdentity> key_of(const FileContent& file) const;
  [[nodiscard]] const Allocation* find(const FileIdentity& file);
  void keep(const FileIdentity& file, DevicePointer from);

  const Context& m_context;
  std::uint64_t m_most_bytes = 0;
  std::list<Entry> m_entries;  // the last used first
};

}  // namespace cudaopt::cuda
