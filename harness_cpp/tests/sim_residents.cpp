// Blocks side by side: how many, and that those which wait for nobody still run one after another.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// Each thread counts itself in, works, and counts itself out; y[b] is how many were in at most.
std::string most_at_once(const std::string& work) {
  return "atom.global.add.u32 %r1, [%x1], 1;\nadd.u32 %r1, %r1, 1;\n" + work +
         "mul.wide.u32 %rd1, %b, 4;\nadd.s64 %rd1, %rd1, %x0;\nst.global.u32 [%rd1], %r1;\n"
         "red.global.add.u32 [%x1], -1;\n";
}

Words run(Kernel kernel, std::uint32_t blocks, std::uint32_t shared_bytes = 0) {
  kernel.buffer("y", Words(blocks)).buffer("in", Words(2));
  kernel.run(1, blocks, shared_bytes);
  return kernel.read("y");
}

}  // namespace

TEST("blocks that need their order but wait for nobody run one after another") {
  const std::string loop =
      "mov.u32 %r2, 0;\nL:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 20000;\n@%p1 bra L;\n";
  CHECK_WORDS(Words(20, 1), run(Kernel(2, most_at_once(loop)), 20));
}

TEST("blocks that wait let others start, no more than fit") {
  // Everyone waits until four have come in since the start.
  const std::string wait =
      "atom.global.add.u32 %r3, [%x1+4], 1;\nL:\nld.volatile.global.u32 %r2, [%x1+4];\n"
      "setp.lt.u32 %p1, %r2, 4;\n@%p1 bra L;\n";
  CHECK_WORDS((Words{1, 2, 3, 4, 1, 1, 1, 1}), run(Kernel(2, most_at_once(wait)), 8));
}

TEST("counters add up over blocks that took turns") {
  Kernel kernel(2, most_at_once(""));
  kernel.buffer("y", Words(8)).buffer("in", Words(2));
  LaunchSpec spec = kernel.spec(1, 8);
  spec.order = {Order::Kind::random, 1};
  const Counters counters = *kernel.device().launch(spec).counters;
  CHECK_EQUAL(8u, counters.blocks);
  CHECK_EQUAL(8u, counters.threads);
  CHECK_EQUAL(16u, counters.atomic_requests);
}
