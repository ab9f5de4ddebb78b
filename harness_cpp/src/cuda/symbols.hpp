// Variables of a loaded module that become what buffers hold, before each launch: queued like the
// launch itself, and outside the events of one that is timed.
#pragma once

#include <string>
#include <vector>

#include "cuda/context.hpp"
#include "cuda/kernel.hpp"
#include "cuda/memory.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

class SymbolWrites {
 public:
  SymbolWrites() = default;
  // Throws Fault unknown_entry for a variable that the module has not, invalid_launch for another
  // size. The contents are those of the request's own buffers, wherever launches have theirs.
  SymbolWrites(const LoadedModule& module, const Memory& memory, const LaunchSpec& spec);

  [[nodiscard]] bool empty() const { return m_copies.empty(); }
  void enqueue(const Context& context) const;

 private:
  struct Copy {
    DevicePointer to = 0, from = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Copy> m_copies;
};

}  // namespace cudaopt::cuda
