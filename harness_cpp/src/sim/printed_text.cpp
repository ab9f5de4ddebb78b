#include "sim/printed_text.hpp"

#include <iterator>
#include <utility>

namespace cudaopt::sim {

// Blocks behind the limit cannot be among what is shown, whatever others still print.
void PrintedText::add(std::uint64_t block, std::string text) {
  if (text.empty()) return;
  const std::lock_guard<std::mutex> lock(m_mutex);
  m_bytes += text.size();
  m_blocks[block] = std::move(text);
  while (m_blocks.size() > 1 && m_bytes - m_blocks.rbegin()->second.size() > kMostPrinted) {
    m_bytes -= m_blocks.rbegin()->second.size();
    m_blocks.erase(std::prev(m_blocks.end()));
  }
}

void PrintedText::forget_after(std::uint64_t block) {
  const std::lock_guard<std::mutex> lock(m_mutex);
  for (auto at = m_blocks.upper_bound(block); at != m_blocks.end(); at = m_blocks.erase(at))
    m_bytes -= at->second.size();
}

std::string PrintedText::take() {
  const std::lock_guard<std::mutex> lock(m_mutex);
  std::string all;
  for (const auto& [block, text] : m_blocks) all += text;
  m_blocks.clear();
  m_bytes = 0;
  if (all.size() <= kMostPrinted) return all;
  all.resize(kMostPrinted);
  return all + "\n[printf: only the first " + std::to_string(kMostPrinted >> 20) +
         " MiB are shown]\n";
}

}  // namespace cudaopt::sim
