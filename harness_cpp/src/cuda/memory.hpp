// Buffers of one request in a GPU's memory, and the guard zones around them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"
#include "cuda/file_cache.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

struct Buffer {
  BufferSpec spec;                    // `poison` as it is now
  std::unique_ptr<Allocation> owned;  // null for an alias
  Allocation* memory = nullptr;       // its own or, of an alias, its owner's
  DevicePointer pointer = 0;          // what the kernel gets
  bool has_contents = false;          // written since it was made, else poison
  bool is_tiled = false;              // contents that stay
  [[nodiscard]] bool is_alias() const { return owned == nullptr; }
};

class Memory {
 public:
  // `files` null: no file is kept.
  explicit Memory(const Context& context, FileCache* files = nullptr)
      : m_context(context), m_files(files) {}

  void create(const BufferSpec& spec);
  void write(const std::string& name, const std::vector<std::uint8_t>& bytes);
  void write_file(const std::string& name, const FileContent& file);
  // Queues other memory becoming what `file` holds.
  void copy_file(DevicePointer to, const FileContent& file) const;
  [[nodiscard]] std::vector<std::uint8_t> read(const std::string& name) const;
  void fill(const std::string& name, const std::vector<std::uint8_t>& pattern);
  void poison(const std::string& name, const std::optional<std::vector<std::uint8_t>>& pattern);
  [[nodiscard]] bool guards_intact(const std::string& name) const;
  // Kernels cannot write inputs from here on, where the device can see to it.
  void protect_inputs();

  [[nodiscard]] const Buffer& find(const std::string& name) const;
  // The buffer whose memory `name` shares: itself, or of an alias its owner.
  [[nodiscard]] const Buffer& owner_of(const std::string& name) const;

 private:
  [[nodiscard]] Buffer alias_of(const BufferSpec& spec) const;
  [[nodiscard]] Buffer& owner_of(const std::string& name);
  // Where `name` starts; the host gives it contents now.
  DevicePointer open_for_contents(const std::string& name);
  [[nodiscard]] std::string label_of(const BufferSpec& spec) const;

  const Context& m_context;
  FileCache* m_files = nullptr;
  std::map<std::string, Buffer> m_buffers;
};

}  // namespace cudaopt::cuda
