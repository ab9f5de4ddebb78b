// What the reads of a request wrote last, of buffers of which some read asks for changes: others
// may be large, and nobody compares them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "protocol/request.hpp"

namespace cudaopt::steps {

class LastReads {
 public:
  explicit LastReads(const protocol::Request& request);

  // Whether `content` differs from what was kept of `buffer`, or nothing was.
  [[nodiscard]] bool differ(const std::string& buffer,
                            const std::vector<std::uint8_t>& content) const;
  void keep(const std::string& buffer, std::vector<std::uint8_t> content);

 private:
  std::set<std::string> m_compared;
  std::map<std::string, std::vector<std::uint8_t>> m_contents;
};

}  // namespace cudaopt::steps
