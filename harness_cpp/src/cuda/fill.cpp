#include "cuda/fill.hpp"

#include <algorithm>
#include <cstring>

namespace cudaopt::cuda {
namespace {

constexpr std::uint64_t kPieceBytes = 1 << 20;

// The shortest of 1, 2 and 4 bytes whose repetition is the pattern; 0 if there is none.
std::size_t word_bytes_of(const std::vector<std::uint8_t>& pattern) {
  for (const std::size_t period : {1, 2, 4}) {
    if (pattern.size() % period != 0) continue;
    bool repeats = true;
    for (std::size_t i = period; i < pattern.size(); ++i) {
      repeats = repeats && pattern[i] == pattern[i - period];
    }
    if (repeats) return period;
  }
  return 0;
}

std::vector<std::uint8_t> repeated(const std::vector<std::uint8_t>& pattern, std::uint64_t bytes) {
  std::vector<std::uint8_t> content(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) content[i] = pattern[i % pattern.size()];
  return content;
}

// For patterns the driver has no call for. The first piece comes from the host, all others from the
// GPU's own memory: whole patterns so far, which each copy doubles.
void fill_by_copies(const Context& context, DevicePointer to, std::uint64_t bytes,
                    const std::vector<std::uint8_t>& pattern) {
  const Driver& driver = context.driver();
  const std::uint64_t whole =
      std::max<std::uint64_t>(1, kPieceBytes / pattern.size()) * pattern.size();
  const std::vector<std::uint8_t> piece = repeated(pattern, std::min(bytes, whole));
  CUDAOPT_CUDA(driver, copy_to_device, to, piece.data(), piece.size());
  for (std::uint64_t done = piece.size(); done < bytes;) {
    const std::uint64_t more = std::min(done, bytes - done);
    CUDAOPT_CUDA(driver, copy_on_device_async, to + done, to, more, context.stream());
    done += more;
  }
}

}  // namespace

void fill_async(const Context& context, DevicePointer to, std::uint64_t bytes,
                const std::vector<std::uint8_t>& pattern) {
  const std::vector<std::uint8_t> zero(1);
  const std::vector<std::uint8_t>& bits = pattern.empty() ? zero : pattern;
  const std::size_t word_bytes = word_bytes_of(bits);
  if (bytes == 0) return;
  if (word_bytes == 0 || to % word_bytes != 0 || bytes % word_bytes != 0) {
    fill_by_copies(context, to, bytes, bits);
    return;
  }
  const Driver& driver = context.driver();
  const StreamHandle stream = context.stream();
  if (word_bytes == 1) {
    CUDAOPT_CUDA(driver, set_bytes_async, to, bits[0], bytes, stream);
  } else if (word_bytes == 2) {
    std::uint16_t half = 0;
    std::memcpy(&half, bits.data(), sizeof half);
    CUDAOPT_CUDA(driver, set_halves_async, to, half, bytes / 2, stream);
  } else {
    std::uint32_t word = 0;
    std::memcpy(&word, bits.data(), sizeof word);
    CUDAOPT_CUDA(driver, set_words_async, to, word, bytes / 4, stream);
  }
}

}  // namespace cudaopt::cuda
