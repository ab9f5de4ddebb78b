// Launches: results for any number of threads, which fault is reported, limits, arguments, budget.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// y[block * 64 + tid] = block * 64 + tid, after some work that differs by block.
const std::string kWork =
    "mov.u32 %r1, 0;\nand.b32 %r2, %b, 7;\nLOOP:\nsetp.ge.u32 %p1, %r1, %r2;\n@%p1 bra DONE;\n"
    "add.u32 %r1, %r1, 1;\nbra LOOP;\nDONE:\nmad.lo.u32 %r3, %b, 64, %t;\n"
    "mul.wide.u32 %rd1, %r3, 4;\nadd.s64 %rd2, %x0, %rd1;\nst.global.u32 [%rd2], %r3;\n";

struct Result {
  Words memory;
  Counters counters;
};

SimOptions with_threads(unsigned threads) {
  SimOptions options;
  options.threads = threads;
  return options;
}

Result run_with(unsigned threads, const std::string& body, std::uint32_t words) {
  Kernel kernel(1, body, "", with_threads(threads));
  kernel.buffer("y", Words(words));
  const Counters counters = kernel.run(64, 100);
  return {kernel.read("y"), counters};
}

void check_equal_counters(const Counters& a, const Counters& b) {
  CHECK(a.warp_instructions == b.warp_instructions);
  CHECK_EQUAL(a.blocks, b.blocks);
  CHECK_EQUAL(a.lane_instructions, b.lane_instructions);
  CHECK_EQUAL(a.divergent_branches, b.divergent_branches);
  CHECK_EQUAL(a.global_store_sectors, b.global_store_sectors);
  CHECK_EQUAL(a.max_block_instructions, b.max_block_instructions);
}

std::string refusal(Kernel& kernel, const LaunchSpec& spec) {
  try {
    (void)kernel.device().launch(spec);
  } catch (const Fault& fault) {
    CHECK(FaultKind::invalid_launch == fault.detail().kind);
    return fault.what();
  }
  throw check::Failure("the launch was accepted");
}

void check_refusal(Kernel& kernel, const LaunchSpec& spec, const std::string& part) {
  const std::string message = refusal(kernel, spec);
  if (message.find(part) == std::string::npos) throw check::Failure(message);
}

}  // namespace

TEST("memory and counters are the same for any number of threads") {
  const Result one = run_with(1, kWork, 6400);
  CHECK_WORDS(counting(6400), one.memory);
  CHECK_EQUAL(100u, one.counters.blocks);
  CHECK_EQUAL(200u, one.counters.warps);
  CHECK_EQUAL(6400u, one.counters.threads);
  for (const unsigned threads : {2u, 7u}) {
    const Result many = run_with(threads, kWork, 6400);
    CHECK_WORDS(one.memory, many.memory);
    check_equal_counters(one.counters, many.counters);
  }
}

TEST("float atomics add up in block order for any number of threads") {
  // Block 0 is the slowest and adds 1e8, to which a one added later is lost.
  const std::string body =
      "mov.f32 %f1, 0f3F800000;\nsetp.ne.u32 %p1, %b, 0;\n@%p1 bra ADD;\nmov.f32 %f1, 0f4CBEBC20;\n"
      "mov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 50000;\n@%p2 bra LOOP;\n"
      "ADD:\nsetp.eq.u32 %p3, %t, 0;\n@%p3 red.global.add.f32 [%x0], %f1;";
  for (const unsigned threads : {1u, 2u, 7u}) {
    CHECK_WORDS((Words{0x4cbebc20}), run_with(threads, body, 1).memory);
  }
}

TEST("registers nobody wrote read the same in every block") {
  const std::string body =
      "setp.eq.u32 %p1, %b, 0;\n@%p1 mov.u32 %r9, 77;\nmad.lo.u32 %r3, %b, 64, %t;\n"
      "mul.wide.u32 %rd1, %r3, 4;\nadd.s64 %rd2, %x0, %rd1;\nst.global.u32 [%rd2], %r9;";
  Words expected(6400);
  for (std::uint32_t t = 0; t < 64; ++t) expected[t] = 77;
  CHECK_WORDS(expected, run_with(1, body, 6400).memory);
  CHECK_WORDS(expected, run_with(3, body, 6400).memory);
}

TEST("the fault of the lowest block is reported, whichever block fails first") {
  // Block 40 fails at once; block 3 after a long loop.
  const std::string body =
      "setp.eq.u32 %p1, %b, 40;\n@%p1 trap;\nsetp.ne.u32 %p2, %b, 3;\n@%p2 bra END;\nmov.u32 %r1, "
      "0;\n"
      "LOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 20000;\n@%p3 bra LOOP;\n"
      "ld.global.u32 %r2, [%x0+400];\nEND:\n";
  for (const unsigned threads : {1u, 4u}) {
    Kernel kernel(1, body, "", with_threads(threads));
    kernel.buffer("x", Words(1));
    const FaultDetail fault = kernel.fault(32, 64);
    CHECK_EQUAL(3u, fault.block->x);
    CHECK(FaultKind::illegal_address == fault.kind);
  }
}

TEST("a trap names its line") {
  Kernel kernel(0, ".loc 1 6 1\ntrap;");
  const FaultDetail fault = kernel.fault(32);
  CHECK(FaultKind::trap == fault.kind);
  CHECK_EQUAL(6, fault.at->line);
}

TEST("a failed assertion is a trap at its line, other calls are unknown") {
  const std::string declare =
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,\n"
      ".param .b64 e);\n.extern .func other(.param .b64 a);";
  const auto call = [](const std::string& function) {
    return "setp.ne.u32 %p1, %t, 9;\n@%p1 bra END;\n.loc 1 12 1\n{\n.param .b64 param0;\n"
           "st.param.b64 [param0+0], %rd1;\ncall.uni " +
           function + ";\n}\nEND:\n";
  };
  Kernel asserts(0, call("__assertfail, (param0, param0, param0, param0, param0)"), declare);
  asserts.run(9);
  const FaultDetail fault = asserts.fault(32);
  CHECK(FaultKind::trap == fault.kind);
  CHECK_EQUAL(12, fault.at->line);
  CHECK_EQUAL(9u, fault.thread->x);
  Kernel unknown(0, call("other, (param0)"), declare);
  CHECK(FaultKind::unsupported_instruction == unknown.fault(32).kind);
}

TEST("an endless loop ends with its budget, at its line") {
  SimOptions options = Kernel::one_thread();
  options.block_instructions = 10000;
  Kernel kernel(0, ".loc 1 3 1\nLOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;", "", options);
  const FaultDetail fault = kernel.fault(64);
  CHECK(FaultKind::timeout == fault.kind);
  CHECK_EQUAL(3, fault.at->line);
  CHECK(fault.message.find("10000") != std::string::npos);
}

TEST("a launch over a limit is refused with the limit") {
  Kernel kernel(1, kWork);
  kernel.buffer("y", Words(6400));
  LaunchSpec spec = kernel.spec(64, 1);
  spec.block = {1025, 1, 1};
  check_refusal(kernel, spec, "the limit is (1024,1024,64)");
  spec.block = {32, 32, 2};
  check_refusal(kernel, spec, "the limit is 1024");
  spec.block = {1, 1, 65};
  check_refusal(kernel, spec, "(1024,1024,64)");
  spec.block = {0, 1, 1};
  check_refusal(kernel, spec, "must be at least 1");
  spec = kernel.spec(64, 1, 300000);
  check_refusal(kernel, spec, "the limit is 232448");
  spec = kernel.spec(64, 1);
  spec.grid = {1, 65536, 1};
  check_refusal(kernel, spec, "65535");
  spec.grid = {1, 1, 0};
  check_refusal(kernel, spec, "grid is (1,1,0)");
}

TEST("a kernel's own launch bounds hold") {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n";
  Kernel required(head + ".reqntid 64, 1, 1\n{\nret;\n}\n");
  required.run(64);
  check_refusal(required, required.spec(32, 1), "requires exactly (64,1,1)");
  Kernel bounded(head + ".maxntid 128, 1, 1\n{\nret;\n}\n");
  bounded.run(64);
  check_refusal(bounded, bounded.spec(256, 1), "allows 128");
}

TEST("arguments must match the parameters in number and size") {
  Kernel none(1, kWork);
  check_refusal(none, none.spec(64, 1), "has 1 parameters, got 0");
  Kernel narrow(1, kWork);
  narrow.scalar(std::uint32_t{1}, "u32");
  check_refusal(narrow, narrow.spec(64, 1), "parameter 0 ('p0') has 8 bytes, got 4");
}

TEST("an unknown kernel or module is named, with the kernels there are") {
  Kernel kernel(0, "");
  LaunchSpec spec = kernel.spec(32, 1);
  spec.entry = "other";
  try {
    (void)kernel.device().launch(spec);
    CHECK(false);
  } catch (const Fault& fault) {
    CHECK(FaultKind::unknown_entry == fault.detail().kind);
    CHECK_EQUAL(std::string("module 'm' has no kernel 'other'; it has: k"), fault.detail().message);
  }
  spec.module = "n";
  CHECK_THROWS(Fault, kernel.device().launch(spec));
}

TEST("both handler sets give the same result") {
  SimOptions baseline = Kernel::one_thread();
  baseline.isa = "x86-64";
  Kernel kernel(1, kWork, "", baseline);
  kernel.buffer("y", Words(6400));
  const Counters counters = kernel.run(64, 100);
  const Result best = run_with(1, kWork, 6400);
  CHECK_WORDS(best.memory, kernel.read("y"));
  check_equal_counters(best.counters, counters);
}

TEST("guarded instructions count as executed, their lanes only where the guard holds") {
  Kernel kernel(0, "setp.lt.u32 %p1, %t, 5;\n@%p1 add.u32 %r1, %t, 1;\n@!%p1 add.u32 %r1, %t, 2;");
  const Counters counters = kernel.run(32);
  // mov tid, mov ctaid, setp, two adds; ret.
  CHECK_EQUAL(5u, counters.warp_instructions[static_cast<std::size_t>(Pipe::integer)]);
  CHECK_EQUAL(1u, counters.warp_instructions[static_cast<std::size_t>(Pipe::control)]);
  CHECK_EQUAL(32u * 4 + 5 + 27, counters.lane_instructions);
  CHECK_EQUAL(6u, counters.max_block_instructions);
}

TEST("joins that decode inserts are counted nowhere") {
  Kernel kernel(
      0,
      "and.b32 %r1, %t, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra MEET;\nadd.u32 %r2, %t, 1;\n"
      "MEET:\nadd.u32 %r3, %t, 1;");
  const Counters counters = kernel.run(32);
  CHECK_EQUAL(8u, counters.total_warp_instructions());
  CHECK_EQUAL(8u, counters.max_block_instructions);
  CHECK_EQUAL(7u * 32 + 16, counters.lane_instructions);
  CHECK_EQUAL(1u, counters.divergent_branches);
}
