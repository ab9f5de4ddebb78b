#include "cuda/file_identity.hpp"

#include <sys/stat.h>

#include <tuple>

namespace cudaopt::cuda {
namespace {

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

bool FileIdentity::operator==(const FileIdentity& other) const {
  const auto all = [](const FileIdentity& file) {
    return std::tie(file.inode, file.device, file.bytes, file.modified_ns, file.changed_ns,
                    file.path);
  };
  return all(*this) == all(other);
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  FileIdentity file;
  file.path = path;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.bytes = static_cast<std::uint64_t>(status.st_size);
  file.modified_ns = ns_of(status.st_mtim);
  file.changed_ns = ns_of(status.st_ctim);
  return file;
}

}  // namespace cudaopt::cuda
