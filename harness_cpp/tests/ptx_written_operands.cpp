#include "check.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

std::string written(const std::string& text) {
  const Module module = parse(
      ".version 9.5\n.entry k {.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;" + text + ";}");
  std::string indices;
  for (const std::int32_t i : written_operands(module.functions[0].instructions[0]))
    indices += std::to_string(i);
  return indices;
}

}  // namespace

TEST("an instruction writes its first operand") {
  for (const char* text :
       {"add.s32 %r1, %r2, %r3", "ld.global.v2.b32 {%r1, %r2}, [%rd1]", "mov.b64 {%r1, %r2}, %rd1",
        "atom.global.add.u32 %r1, [%rd1], %r2", "call (%r1), f, (%r2)",
        "vote.sync.any.pred %p1, %p2, 3", "bar.red.popc.u32 %r1, 0, %p1",
        "barrier.cta.red.and.pred %p1, 0, %p2", "mbarrier.arrive.shared.b64 %rd1, [%rd2]",
        "wmma.load.a.sync {%r1, %r2}, [%rd1]", "someday.b32 %r1, %r2"})
    CHECK_EQUAL("0", written(text));
}

TEST("a pair writes its first two") {
  CHECK_EQUAL("01", written("setp.eq.s32 %p1|%p2, %r1, %r2"));
  CHECK_EQUAL("01", written("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1"));
}

TEST("stores, branches, barriers and their kin write no register") {
  for (const char* text :
       {"st.global.b32 [%rd1], %r1", "red.global.add.u32 [%rd1], %r2", "bar.sync %r1",
        "barrier.sync %r1, %r2", "bar.warp.sync %r1", "L: brx.idx %r1, ts; ts: .branchtargets L",
        "nanosleep.u32 %r1", "ret", "wmma.store.d.sync [%rd1], {%r1, %r2}", "membar.gl",
        "cp.async.ca.shared.global [%r1], [%rd1], 16", "stackrestore.u64 %rd1",
        "tcgen05.dealloc.b32 %r1, 32", "mbarrier.init.shared.b64 [%r1], %r2",
        "prefetch.global.L1 [%rd1]"})
    CHECK_EQUAL("", written(text));
}
