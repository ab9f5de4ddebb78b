// Which kernels need their blocks in order.
#include "ptx/parser.hpp"
#include "sim/block_order.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

bool needs_order(const std::string& body) {
  const ptx::Module module =
      ptx::parse(Kernel::module_text(1, body, ".shared .align 4 .b8 s[128];"));
  return sim::depends_on_block_order({&module.functions.front()});
}

}  // namespace

TEST("kernels without atomics run in any order") {
  CHECK(!needs_order("ld.global.u32 %r1, [%x0];\nst.global.u32 [%x0], %r1;"));
}

TEST("one commuting integer atomic runs in any order, in float or two kinds not") {
  CHECK(!needs_order("red.global.add.u32 [%x0], 1;\nred.global.add.u32 [%x0], 2;"));
  CHECK(!needs_order("red.global.max.s32 [%x0], 1;"));
  CHECK(needs_order("red.global.add.f32 [%x0], %f1;"));
  CHECK(needs_order("red.global.add.noftz.f16x2 [%x0], %r1;"));
  CHECK(needs_order("red.global.v2.f32.add [%x0], {%f1, %f2};"));
  CHECK(needs_order("red.global.add.u32 [%x0], 1;\nred.global.max.u32 [%x0], 1;"));
  CHECK(needs_order("red.global.inc.u32 [%x0], 1;"));
}

TEST("what an atomic returns matters only if it is used") {
  CHECK(!needs_order("atom.global.add.u32 %r1, [%x0], 1;"));
  CHECK(!needs_order("atom.global.add.u32 _, [%x0], 1;"));
  CHECK(needs_order("atom.global.add.u32 %r1, [%x0], 1;\nst.global.u32 [%x0], %r1;"));
  CHECK(needs_order("atom.global.exch.b32 %r1, [%x0], 1;"));
}

TEST("an atomic without operands is unknown, and no reason to crash") {
  CHECK(!sim::result_is_used(ptx::Instruction{}, {}));
}

TEST("atomics on shared memory stay within the block") {
  CHECK(!needs_order("atom.shared.add.f32 %f1, [s], %f2;\nst.shared.f32 [s], %f1;"));
}

TEST("reads of what other blocks may write need order") {
  CHECK(needs_order("ld.volatile.global.u32 %r1, [%x0];"));
  CHECK(needs_order("ld.acquire.gpu.global.u32 %r1, [%x0];"));
  CHECK(!needs_order("ld.volatile.shared.u32 %r1, [s];"));
}
