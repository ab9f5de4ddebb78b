// Where diverged lanes meet, with early returns left out.
#include "ptx/parser.hpp"
#include "sim/reconvergence.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// The line of PTX text at which the lanes of the first branch with two ways meet; "" for the exit.
std::string meeting_of_first_branch(const std::string& body) {
  const ptx::Module module = ptx::parse(Kernel::module_text(0, body, ""));
  const ptx::Function& function = module.functions.front();
  const ptx::ControlFlow flow = ptx::build_control_flow(function);
  const std::vector<std::int32_t> meeting = sim::meeting_blocks(function, flow);
  for (std::size_t i = 0; i < flow.blocks.size(); ++i) {
    if (flow.blocks[i].successors.size() < 2) continue;
    if (meeting[i] == ptx::kExit) return "";
    const auto block = static_cast<std::size_t>(meeting[i]);
    return std::string(
        function.instructions[static_cast<std::size_t>(flow.blocks[block].first)].text);
  }
  throw check::Failure("no branch");
}

const std::string kTest = "setp.lt.u32 %p1, %t, 3;\nsetp.lt.u32 %p2, %t, 2;\n";

}  // namespace

TEST("the two ways of a branch meet where the code joins") {
  CHECK_EQUAL(std::string("mov.u32 %r3, 3"),
              meeting_of_first_branch(kTest + "@%p1 bra B;\nmov.u32 %r1, 1;\nbra C;\nB:\n"
                                              "mov.u32 %r2, 2;\nC:\nmov.u32 %r3, 3;"));
}

TEST("a return inside one way does not move the meeting to the exit") {
  const std::string ways[] = {"@%p2 ret;\n", "@%p2 bra END;\n", "@!%p2 bra GO;\nret;\nGO:\n"};
  for (const std::string& way : ways) {
    CHECK_EQUAL(std::string("mov.u32 %r3, 3"),
                meeting_of_first_branch(kTest + "@%p1 bra C;\n" + way +
                                        "mov.u32 %r2, 2;\nC:\nmov.u32 %r3, 3;\nEND:\n"));
  }
}

TEST("a loop whose only way out is a return keeps it") {
  CHECK_EQUAL(std::string("mov.u32 %r2, 2"),
              meeting_of_first_branch(kTest + "@%p1 bra L;\nmov.u32 %r1, 1;\nL:\nmov.u32 %r2, 2;\n"
                                              "@%p2 bra L;\n"));
}
