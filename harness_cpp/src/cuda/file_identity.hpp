// Which state of which file: equal as long as nobody wrote to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cudaopt::cuda {

struct FileIdentity {
  std::string path;
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // nobody can set it back
  [[nodiscard]] bool operator==(const FileIdentity& other) const;
};

// Of a regular file; nullopt where there is none.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

}  // namespace cudaopt::cuda
