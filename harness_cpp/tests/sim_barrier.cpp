// Barriers: whom they wait for, what their reductions say, and what is no legal use of them.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const std::string kShared = ".shared .align 16 .b8 s[1024];";

// %r1: the shared address of this thread's word.
const std::string kOwnWord = "mov.u32 %r2, s;\nmad.lo.u32 %r1, %t, 4, %r2;\n";

// Each thread publishes its index; after `barrier` thread t reads that of (t + 32) % 128.
std::string exchange(const std::string& barrier) {
  return kOwnWord + "st.shared.u32 [%r1], %t;\n" + barrier +
         "\nadd.u32 %r3, %t, 32;\nand.b32 %r3, %r3, 127;\nmad.lo.u32 %r4, %r3, 4, %r2;\n"
         "ld.shared.u32 %r5, [%r4];\n" +
         store_word("%r5");
}

Words rotated() {
  Words expected;
  for (std::uint32_t t = 0; t < 128; ++t) expected.push_back((t + 32) % 128);
  return expected;
}

}  // namespace

TEST("a barrier makes every warp wait for all others") {
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 3;", "barrier.sync.aligned 0;",
                              "mov.u32 %r9, 5;\nbar.sync %r9, 128;"}) {
    Kernel kernel(1, exchange(barrier), kShared);
    kernel.buffer("y", Words(128));
    const Counters counters = kernel.run(128, 2);
    CHECK_WORDS(rotated(), kernel.read("y"));
    CHECK_EQUAL(2u, counters.barriers);
  }
}

TEST("without the barrier the exchange reads what is not there yet") {
  Kernel kernel(1, exchange(""), kShared);
  kernel.buffer("y", Words(128));
  kernel.run(128);
  CHECK_EQUAL(0xffffffffu, kernel.read("y")[0]);
}

TEST("warps that exited are not waited for") {
  Kernel kernel(1,
                "setp.ge.u32 %p1, %t, 64;\n@%p1 ret;\n" + kOwnWord +
                    "st.shared.u32 [%r1], %t;\nbar.sync 0;\nxor.b32 %r3, %t, 32;\n"
                    "mad.lo.u32 %r4, %r3, 4, %r2;\nld.shared.u32 %r5, [%r4];\n" +
                    store_word("%r5"),
                kShared);
  kernel.buffer("y", Words(128, 7));
  kernel.run(128);
  Words expected(128, 7);
  for (std::uint32_t t = 0; t < 64; ++t) expected[t] = t ^ 32;
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("threads that returned from inside a branch are not waited for") {
  // if (t odd) { if (t % 3 == 0) { y[t] = 9; return; } } bar.sync; y[t] = t
  Kernel kernel(
      1,
      "and.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra MEET;\nrem.u32 %r4, %t, 3;\n"
      "setp.ne.u32 %p2, %r4, 0;\n@%p2 bra MEET;\nmov.u32 %r5, 9;\n" +
          store_word("%r5") + "ret;\nMEET:\nbar.sync 0;\n" + store_word("%t"));
  kernel.buffer("y", Words(64));
  kernel.run(64);
  Words expected = counting(64);
  for (std::uint32_t t = 3; t < 64; t += 6) expected[t] = 9;
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("a barrier in a branch of some lanes is a divergence, at its line") {
  Kernel kernel(1,
                "and.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra MEET;\n.loc 1 8 2\n"
                "bar.sync 0;\nMEET:\n" +
                    store_word("%t"));
  kernel.buffer("y", Words(64));
  const FaultDetail fault = kernel.fault(64);
  CHECK(FaultKind::barrier_divergence == fault.kind);
  CHECK_EQUAL(8, fault.at->line);
  CHECK_EQUAL(1u, fault.thread->x);
}

TEST("different barriers in the two ways of a branch are a divergence") {
  Kernel kernel(0,
                "and.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra EVEN;\nbar.sync 0;\n"
                "bra MEET;\nEVEN:\nbar.sync 0;\nMEET:\n");
  CHECK(FaultKind::barrier_divergence == kernel.fault(64).kind);
}

TEST("a branch whole warps take may hold a barrier for them alone") {
  Kernel kernel(1,
                "setp.ge.u32 %p1, %t, 64;\n@%p1 bra MEET;\nbar.sync 1, 64;\nMEET:\nbar.sync 0;\n" +
                    store_word("%t"));
  kernel.buffer("y", Words(128));
  CHECK_EQUAL(2u, kernel.run(128).barriers);
  CHECK_WORDS(counting(128), kernel.read("y"));
}

TEST("arriving at a barrier does not wait, and lets the others go on") {
  // Warps 0 and 1 produce and arrive; warps 2 and 3 wait for them.
  Kernel kernel(1,
                kOwnWord +
                    "setp.ge.u32 %p1, %t, 64;\n@%p1 bra TAKE;\nst.shared.u32 [%r1], %t;\n"
                    "bar.arrive 2, 128;\nbra END;\nTAKE:\nbar.sync 2, 128;\nsub.u32 %r3, %t, 64;\n"
                    "mad.lo.u32 %r4, %r3, 4, %r2;\nld.shared.u32 %r5, [%r4];\n" +
                    store_word("%r5") + "END:\n",
                kShared);
  kernel.buffer("y", Words(128));
  kernel.run(128);
  Words expected(128);
  for (std::uint32_t t = 64; t < 128; ++t) expected[t] = t - 64;
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("a barrier's reduction counts and combines the predicates of the block") {
  Kernel kernel(
      1,
      "setp.lt.u32 %p1, %t, 40;\nsetp.lt.u32 %p2, %t, 100;\nbar.red.popc.u32 %r3, 0, %p1;\n"
      "bar.red.and.pred %p3, 0, %p2;\nbar.red.or.pred %p4, 0, %p1;\n"
      "bar.red.and.pred %p5, 0, !%p1;\nbar.red.or.pred %p6, 1, 96, !%p2;\n"
      "selp.u32 %r4, 1000, 0, %p3;\nselp.u32 %r5, 2000, 0, %p4;\n"
      "selp.u32 %r6, 4000, 0, %p5;\nselp.u32 %r7, 8000, 0, %p6;\nadd.u32 %r3, %r3, %r4;\n"
      "add.u32 %r3, %r3, %r5;\nadd.u32 %r3, %r3, %r6;\nadd.u32 %r3, %r3, %r7;\n" +
          store_word("%r3"));
  kernel.buffer("y", Words(75));
  kernel.run(75);
  CHECK_WORDS(Words(75, 3040), kernel.read("y"));
}

TEST("warps that wait for a barrier nobody completes make no progress") {
  Kernel kernel(0, ".loc 1 5 1\nbar.sync 1, 128;");
  const FaultDetail fault = kernel.fault(64);
  CHECK(FaultKind::no_progress == fault.kind);
  CHECK_EQUAL(5, fault.at->line);
  CHECK_EQUAL(std::string("kernel 'k' makes no progress: 64 threads wait at barrier 1 (64 of 128 "
                          "have arrived) at k.cu:5"),
              fault.message);
}

TEST("a block has sixteen barriers") {
  Kernel kernel(0, "mov.u32 %r1, 16;\nbar.sync %r1;");
  CHECK(FaultKind::launch_error == kernel.fault(32).kind);
}
