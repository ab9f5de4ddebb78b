// The files a request names: raw arrays and texts, relative to its directory. A file that is
// missing, or not of the size the request says, is an invalid_request fault.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device.hpp"

namespace cudaopt::steps {

class Files {
 public:
  explicit Files(std::string directory) : m_directory(std::move(directory)) {}

  // `what` names the request's key in messages: "buffer \"x\"".
  [[nodiscard]] std::vector<std::uint8_t> read_exactly(const std::string& name, std::uint64_t bytes,
                                                       const std::string& what) const;
  // The same, to be read when it is needed; of the right size now.
  [[nodiscard]] FileContent content_of(const std::string& name, std::uint64_t bytes,
                                       const std::string& what) const;
  [[nodiscard]] std::string read_text(const std::string& name, const std::string& what) const;
  void write(const std::string& name, const void* content, std::size_t bytes,
             const std::string& what) const;
  // A file that may be gone already.
  void remove(const std::string& name, const std::string& what) const;
  [[nodiscard]] bool exists(const std::string& name) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const;

  std::string m_directory;
};

}  // namespace cudaopt::steps
