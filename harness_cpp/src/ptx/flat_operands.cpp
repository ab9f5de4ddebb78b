#include "ptx/flat_operands.hpp"

namespace cudaopt::ptx {

void flatten(const Operand& operand, std::vector<const Operand*>& into) {
  if (operand.kind == Operand::Kind::label) return;
  if (operand.kind != Operand::Kind::vector) {
    into.push_back(&operand);
    return;
  }
  for (const Operand& element : operand.elements) flatten(element, into);
}

}  // namespace cudaopt::ptx
