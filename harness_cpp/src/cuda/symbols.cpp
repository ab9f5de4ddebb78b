#include "cuda/symbols.hpp"

#include "launch_limits.hpp"

namespace cudaopt::cuda {

SymbolWrites::SymbolWrites(const LoadedModule& module, const Memory& memory,
                           const LaunchSpec& spec) {
  for (const SymbolWrite& write : spec.symbols) {
    const std::optional<Variable> variable = module.variable(write.lowered);
    if (!variable) refuse_unknown_symbol(spec, write);
    const Buffer& buffer = memory.find(write.buffer);
    check_symbol_size(spec, write, variable->bytes, buffer.spec.bytes);
    if (variable->bytes > 0) {
      m_copies.push_back({variable->pointer, buffer.pointer, variable->bytes});
    }
  }
}

void SymbolWrites::enqueue(const Context& context) const {
  for (const Copy& copy : m_copies) {
    CUDAOPT_CUDA(context.driver(), copy_on_device_async, copy.to, copy.from, copy.bytes,
                 context.stream());
  }
}

}  // namespace cudaopt::cuda
