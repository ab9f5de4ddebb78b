// C stdio behind RAII: whole files at once, errors with the path and the reason.
#include "steps/files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "device.hpp"

namespace cudaopt::steps {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& why) {
  throw Fault(FaultKind::invalid_request, what + ": file \"" + path + "\": " + why);
}

File open(const std::string& path, const char* mode, const std::string& what) {
  File file(std::fopen(path.c_str(), mode), &std::fclose);
  if (!file) fail(what, path, std::string(std::strerror(errno)) + ". Check the name.");
  return file;
}

std::uint64_t size_of(const std::string& path, const std::string& what) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) fail(what, path, error.message() + ". Check the name.");
  return bytes;
}

void check_size(const std::string& path, std::uint64_t bytes, const std::string& what) {
  const std::uint64_t found = size_of(path, what);
  if (found == bytes) return;
  fail(what, path,
       "expected " + std::to_string(bytes) + " bytes, got " + std::to_string(found) +
           ". Write exactly the buffer's bytes.");
}

void read_into(void* content, std::size_t bytes, const std::string& path, const std::string& what) {
  const File file = open(path, "rb", what);
  if (std::fread(content, 1, bytes, file.get()) != bytes) {
    fail(what, path, "expected " + std::to_string(bytes) + " bytes, got fewer.");
  }
}

}  // namespace

std::string Files::path_of(const std::string& name) const {
  return (std::filesystem::path(m_directory) / name).string();
}

bool Files::exists(const std::string& name) const {
  std::error_code error;
  return std::filesystem::exists(path_of(name), error);
}

std::vector<std::uint8_t> Files::read_exactly(const std::string& name, std::uint64_t bytes,
                                              const std::string& what) const {
  return content_of(name, bytes, what).read();
}

FileContent Files::content_of(const std::string& name, std::uint64_t bytes,
                              const std::string& what) const {
  const std::string path = std::filesystem::absolute(path_of(name)).string();
  check_size(path, bytes, what);
  return {path, bytes, [path, bytes, what] {
            check_size(path, bytes, what);
            std::vector<std::uint8_t> content(bytes);
            read_into(content.data(), content.size(), path, what);
            return content;
          }};
}

std::string Files::read_text(const std::string& name, const std::string& what) const {
  const std::string path = path_of(name);
  std::string content(size_of(path, what), '\0');
  read_into(content.data(), content.size(), path, what);
  return content;
}

void Files::remove(const std::string& name, const std::string& what) const {
  const std::string path = path_of(name);
  std::error_code error;
  std::filesystem::remove(path, error);
  if (!error) return;
  throw Fault(FaultKind::io_error,
              what + ": file \"" + path + "\" cannot be removed: " + error.message());
}

void Files::write(const std::string& name, const void* content, std::size_t bytes,
                  const std::string& what) const {
  const std::string path = path_of(name);
  File file = open(path, "wb", what);
  // An empty buffer may have no address, which fwrite does not allow.
  const bool written = bytes == 0 || std::fwrite(content, 1, bytes, file.get()) == bytes;
  // Closing flushes: a full disk may show only here.
  if (std::fclose(file.release()) != 0 || !written) {
    throw Fault(FaultKind::io_error, what + ": file \"" + path + "\" cannot be written: " +
                                         std::string(std::strerror(errno)));
  }
}

}  // namespace cudaopt::steps
