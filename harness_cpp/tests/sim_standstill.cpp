// Launches in which no thread can go on: that it is said, at once, and who waits where.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const std::string kFlag = ".shared .align 4 .b32 flag;";

FaultDetail fault_of(Kernel& kernel, std::uint32_t block, std::uint32_t grid = 1) {
  for (int i = 0; i < 2; ++i) kernel.buffer("b" + std::to_string(i), Words(grid + 1));
  return kernel.fault(block, grid);
}

Kernel with_budget(const std::string& body, std::uint64_t instructions) {
  SimOptions options = Kernel::one_thread();
  options.block_instructions = instructions;
  return Kernel(2, body, kFlag, options);
}

}  // namespace

TEST("a warp that waits for a flag nobody sets makes no progress, at the line where it looks") {
  for (const char* look :
       {"ld.volatile.shared.u32 %r1, [flag];", "ld.acquire.gpu.global.u32 %r1, [%x0];",
        "atom.shared.cas.b32 %r1, [flag], 1, 2;", "atom.global.or.b32 %r1, [%x0], 0;",
        "atom.add.u32 %r1, [%x0], 0;", "fence.acq_rel.gpu;\nld.global.u32 %r1, [%x0];"}) {
    Kernel kernel(2,
                  "st.shared.u32 [flag], 0;\n.loc 1 7 1\nL:\n" + std::string(look) +
                      "\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;",
                  kFlag);
    const FaultDetail fault = fault_of(kernel, 64);
    CHECK_EQUAL(std::string("kernel 'k' makes no progress: 64 threads go round at k.cu:7"),
                fault.message);
    CHECK(FaultKind::no_progress == fault.kind);
    CHECK_EQUAL(7, fault.at->line);
    CHECK_EQUAL(0u, fault.block->x);
    CHECK_EQUAL(0u, fault.thread->x);
  }
}

TEST("threads that wait for an mbarrier to which too few come make no progress") {
  for (const char* wait : {"test_wait.shared.b64 %p1, [barrier], %rd1;",
                           "try_wait.parity.shared::cta.b64 %p1, [barrier], 0;",
                           "try_wait.parity.shared::cta.b64 %p1, [barrier], 0, 1000;"}) {
    Kernel kernel(2,
                  "setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [barrier], 65;\n"
                  "bar.sync 0;\nmbarrier.arrive.shared.b64 %rd1, [barrier];\n.loc 1 7 1\nL:\n"
                  "mbarrier." +
                      std::string(wait) + "\n@!%p1 bra L;",
                  ".shared .align 8 .b64 barrier;");
    const FaultDetail fault = fault_of(kernel, 64);
    CHECK_EQUAL(std::string("kernel 'k' makes no progress: 64 threads go round at k.cu:7"),
                fault.message);
    CHECK(FaultKind::no_progress == fault.kind);
  }
}

TEST("all that wait are named with their lines: lanes, warps at barriers, lanes at warp barriers") {
  // Lane 0 waits for a flag, its warp for lane 0, warp 1 at a barrier.
  Kernel kernel(2,
                "setp.ge.u32 %p1, %t, 32;\n@%p1 bra B;\nsetp.ne.u32 %p2, %t, 0;\n@%p2 bra W;\n"
                ".loc 1 3 1\nL:\nld.volatile.global.u32 %r1, [%x0];\nsetp.eq.u32 %p3, %r1, 0;\n"
                "@%p3 bra L;\nW:\n.loc 1 4 1\nbar.warp.sync -1;\nB:\n.loc 1 5 1\nbar.sync 0;");
  CHECK_EQUAL(std::string("kernel 'k' makes no progress: 1 thread goes round at k.cu:3; 31 threads "
                          "wait for lanes at k.cu:4; 32 threads wait at barrier 0 (32 of 64 have "
                          "arrived) at k.cu:5"),
              fault_of(kernel, 64).message);
}

TEST("a lock that its own warp holds makes no progress in any order") {
  // Each lane takes the lock and none gives it back.
  for (const Order& order : {Order{}, Order{Order::Kind::random, 4}}) {
    Kernel kernel(
        1, "L:\natom.global.cas.b32 %r1, [%x0], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;");
    kernel.buffer("y", Words(1));
    LaunchSpec spec = kernel.spec(64, 3);
    spec.order = order;
    try {
      (void)kernel.device().launch(spec);
      CHECK(false);
    } catch (const Fault& fault) {
      CHECK(FaultKind::no_progress == fault.detail().kind);
    }
  }
}

TEST("blocks that wait for one that waits for them are all named") {
  // Block b waits for the flag of block b + 1, the last one for that of block 0.
  Kernel kernel(2,
                "add.u32 %r1, %b, 1;\nrem.u32 %r1, %r1, 3;\nmul.wide.u32 %rd1, %r1, 4;\n"
                "add.s64 %rd1, %rd1, %x0;\n.loc 1 2 1\nL:\nld.volatile.global.u32 %r2, [%rd1];\n"
                "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nst.global.u32 [%x1], 1;");
  CHECK_EQUAL(std::string("kernel 'k' makes no progress: 3 threads go round at k.cu:2"),
              fault_of(kernel, 1, 3).message);
}

TEST("whoever counts how often it looked goes on") {
  Kernel kernel(2,
                "mov.u32 %r2, 0;\nL:\nld.volatile.global.u32 %r1, [%x0];\nadd.u32 %r2, %r2, 1;\n"
                "setp.lt.u32 %p1, %r2, 100000;\n@%p1 bra L;\nst.global.u32 [%x1], %r2;");
  kernel.buffer("a", Words(1)).buffer("b", Words(1));
  kernel.run(64);
  CHECK_WORDS(Words{100000}, kernel.read("b"));
}

TEST("a loop that changes memory is no standstill, but ends with the budget") {
  for (const char* work : {"st.global.u32 [%x0], %t;",
                           "atom.global.add.u32 %r1, [%x0], 1;\n"
                           "st.global.u32 [%x1], %r1;"}) {
    Kernel kernel = with_budget("L:\n" + std::string(work) + "\nbra L;", 20000);
    CHECK(FaultKind::timeout == fault_of(kernel, 32).kind);
  }
}

TEST("waiting does not use up the budget of a block") {
  // Block 0 waits for block 1, which works for longer than block 0 may.
  Kernel kernel = with_budget(
      "setp.eq.u32 %p1, %b, 0;\n@%p1 bra WAIT;\nmov.u32 %r2, 0;\nL:\nadd.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p2, %r2, 3000;\n@%p2 bra L;\nst.global.u32 [%x0], 1;\nbra END;\n"
      "WAIT:\nld.volatile.global.u32 %r1, [%x0];\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra WAIT;\nEND:\n",
      10000);
  kernel.buffer("a", Words(1)).buffer("b", Words(1));
  CHECK(kernel.run(1, 2).max_block_instructions < 10000);
}
