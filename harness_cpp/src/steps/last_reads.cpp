#include "steps/last_reads.hpp"

#include <utility>
#include <variant>

namespace cudaopt::steps {

LastReads::LastReads(const protocol::Request& request) {
  for (const protocol::Step& step : request.steps) {
    const auto* read = std::get_if<protocol::ReadStep>(&step);
    if (read != nullptr && read->if_changed) m_compared.insert(read->buffer);
  }
}

bool LastReads::differ(const std::string& buffer, const std::vector<std::uint8_t>& content) const {
  const auto last = m_contents.find(buffer);
  return last == m_contents.end() || last->second != content;
}

void LastReads::keep(const std::string& buffer, std::vector<std::uint8_t> content) {
  if (m_compared.count(buffer) != 0) m_contents[buffer] = std::move(content);
}

}  // namespace cudaopt::steps
