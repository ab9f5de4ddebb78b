// What the blocks of a launch print, put in the order of the blocks whoever runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace cudaopt::sim {

// As CUDA's own buffer, unless asked for more.
inline constexpr std::size_t kMostPrinted = 1u << 20;

class PrintedText {
 public:
  // Once per block, from any thread.
  void add(std::uint64_t block, std::string text);

  // A launch ended at this block, while later ones may have run or not.
  void forget_after(std::uint64_t block);

  // The first `kMostPrinted` bytes; a last line says if there were more.
  [[nodiscard]] std::string take();

 private:
  std::mutex m_mutex;
  std::map<std::uint64_t, std::string> m_blocks;
  std::size_t m_bytes = 0;
};

}  // namespace cudaopt::sim
