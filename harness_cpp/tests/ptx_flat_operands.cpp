#include "check.hpp"
#include "ptx/flat_operands.hpp"
#include "ptx/parser.hpp"

namespace {

using namespace cudaopt::ptx;

TEST("flat operands: a vector spreads to its elements and a label is no value") {
  const Module module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
      ".reg .b32 %r<4>; .reg .b64 %d<1>; mov.b64 {%r1, %r2}, %d0; bra A; A: ret;\n}");
  const std::vector<Instruction>& instructions = module.functions[0].instructions;
  std::vector<const Operand*> values;
  for (const Operand& operand : instructions[0].operands) flatten(operand, values);
  CHECK_EQUAL(3u, values.size());
  CHECK(values[1] == &instructions[0].operands[0].elements[1]);
  values.clear();
  flatten(instructions[1].operands[0], values);
  CHECK_EQUAL(0u, values.size());
}

}  // namespace
