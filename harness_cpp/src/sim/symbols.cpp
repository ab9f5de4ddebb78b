#include "sim/symbols.hpp"

#include <algorithm>

#include "launch_limits.hpp"

namespace cudaopt::sim {
namespace {

const ptx::Variable& find_variable(const LaunchSpec& spec, const SymbolWrite& write,
                                   const ModuleImage& image) {
  const std::vector<ptx::Variable>& variables = image.module().variables;
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const ptx::Variable& variable) {
        return variable.name == write.lowered && image.address_of(variable.name).has_value();
      });
  if (found == variables.end()) refuse_unknown_symbol(spec, write);
  return *found;
}

std::uint8_t* bytes_of(const ptx::Variable& variable, ModuleImage& image, DeviceMemory& memory) {
  const std::uint64_t address = image.address_of(variable.name).value();
  return variable.space == ptx::Space::global ? memory.variable_bytes(address)
                                              : image.constant_bytes().data() + address;
}

}  // namespace

void write_symbols(const LaunchSpec& spec, ModuleImage& image, DeviceMemory& memory) {
  for (const SymbolWrite& write : spec.symbols) {
    const ptx::Variable& variable = find_variable(spec, write, image);
    const std::vector<std::uint8_t> content = memory.read(write.buffer);
    check_symbol_size(spec, write, variable.bytes, content.size());
    std::copy(content.begin(), content.end(), bytes_of(variable, image, memory));
  }
}

}  // namespace cudaopt::sim
