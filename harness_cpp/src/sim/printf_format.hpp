// What C's printf makes of a format, the way CUDA passes its arguments: one buffer, each at a
// multiple of its size, integers of 4 or 8 bytes, floats as doubles, texts as pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudaopt::sim {

class PrintfArguments {
 public:
  PrintfArguments() = default;
  PrintfArguments(const PrintfArguments&) = delete;
  PrintfArguments& operator=(const PrintfArguments&) = delete;
  virtual ~PrintfArguments() = default;

  // The next argument's 4 or 8 bytes.
  [[nodiscard]] virtual std::uint64_t next(std::uint32_t bytes) = 0;
  // The text at an address, up to its zero byte or `most` bytes.
  [[nodiscard]] virtual std::string text(std::uint64_t address, std::size_t most) = 0;
};

struct Printed {
  std::string text;
  std::uint32_t arguments = 0;  // how many the format named: what CUDA's printf returns
};

// Widths and precisions end at 4096, and %n writes nothing. A conversion nobody knows stays as it
// is.
[[nodiscard]] Printed format_printf(const std::string& format, PrintfArguments& arguments);

}  // namespace cudaopt::sim
