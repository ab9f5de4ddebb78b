// Launches with checks, in PTX: what is told of an access, to the byte.
#include "sim_kernel.hpp"

namespace {

using namespace sim_test;

LaunchReport checked(Kernel& kernel, std::uint32_t block, std::uint32_t grid = 1) {
  LaunchSpec spec = kernel.spec(block, grid);
  spec.checks.accesses = spec.checks.touched = true;
  return kernel.device().launch(spec);
}

// A buffer nobody has written.
void output(Kernel& kernel, const std::string& name, std::uint64_t bytes) {
  BufferSpec spec;
  spec.name = name;
  spec.bytes = bytes;
  spec.element_bytes = 4;
  spec.access = Access::write;
  kernel.device().create_buffer(spec);
  kernel.argument(name);
}

// %rd0 is the address of the thread's word of the first buffer.
const std::string kOwnWord = "mul.wide.u32 %rd0, %t, 4;\nadd.s64 %rd0, %rd0, %x0;\n";
const std::string kTile = ".shared .align 4 .b8 tile[256];\n";
// %r0: the place in `tile` of the thread's own word.
const std::string kOwnPlace = "mov.u32 %r0, tile;\nshl.b32 %r1, %t, 2;\nadd.u32 %r0, %r0, %r1;\n";

}  // namespace

TEST("checks: sectors of a launch count once, whoever touches them") {
  Kernel kernel(1, kOwnWord + "ld.global.u32 %r2, [%rd0];\nst.global.u32 [%rd0], %r2;\n");
  kernel.buffer("x", counting(64));
  CHECK_EQUAL(std::uint64_t{128}, *checked(kernel, 32, 3).touched_bytes);
}

TEST("checks: words of which a byte is written are read without complaint") {
  Kernel kernel(1, kOwnWord + "st.global.u8 [%rd0+1], %t;\nld.global.u32 %r2, [%rd0];\n");
  output(kernel, "y", 256);
  CHECK_EQUAL(std::size_t{0}, checked(kernel, 32).findings.size());
}

TEST("checks: words nobody has written are not") {
  Kernel kernel(1, kOwnWord + "ld.global.u32 %r2, [%rd0];\n");
  output(kernel, "y", 256);
  const std::vector<Finding> findings = checked(kernel, 32).findings;
  CHECK_EQUAL(std::size_t{1}, findings.size());
  CHECK(findings[0].what.kind == FaultKind::uninitialized_read);
  CHECK_EQUAL(std::uint64_t{32}, findings[0].times);
  CHECK_EQUAL(std::int64_t{0}, *findings[0].what.element);
}

TEST("checks: what a launch may have written is contents for the next one") {
  Kernel kernel(1, kOwnWord + "ld.global.u32 %r2, [%rd0];\n");
  output(kernel, "y", 256);
  kernel.run(32);
  CHECK_EQUAL(std::size_t{0}, checked(kernel, 32).findings.size());
  kernel.device().poison("y", std::nullopt);
  CHECK_EQUAL(std::size_t{1}, checked(kernel, 32).findings.size());
}

TEST("checks: threads that write bytes of one word do not collide") {
  Kernel kernel(1, "cvt.u64.u32 %rd0, %t;\nadd.s64 %rd0, %rd0, %x0;\nst.global.u8 [%rd0], %t;\n");
  output(kernel, "y", 64);
  CHECK_EQUAL(std::size_t{0}, checked(kernel, 64).findings.size());
}

TEST("checks: a word and a byte of it do") {
  Kernel kernel(1, kOwnWord +
                       "setp.eq.u32 %p1, %t, 0;\n@%p1 st.global.u8 [%rd0+4], 7;\n"
                       "@!%p1 st.global.u32 [%rd0], %t;\n");
  output(kernel, "y", 256);
  const std::vector<Finding> findings = checked(kernel, 32).findings;
  CHECK_EQUAL(std::size_t{1}, findings.size());
  CHECK(findings[0].what.kind == FaultKind::race);
}

TEST("checks: a barrier orders two warps, and without it they race") {
  const std::string read = "ld.shared.u32 %r3, [tile+128];\n" + store_word("%r3");
  for (const bool barrier : {false, true}) {
    Kernel kernel(
        1, kOwnPlace + "st.shared.u32 [%r0], %t;\n" + (barrier ? "bar.sync 0;\n" : "") + read,
        kTile);
    output(kernel, "y", 256);
    const std::vector<Finding> findings = checked(kernel, 64).findings;
    CHECK_EQUAL(std::size_t{barrier ? 0u : 1u}, findings.size());
    if (!barrier) CHECK_EQUAL(std::string("tile"), findings[0].what.buffer);
  }
}

TEST("checks: lanes that did something together are in order") {
  for (const bool together : {false, true}) {
    Kernel kernel(1,
                  kOwnPlace + "st.shared.u32 [%r0], %t;\n" +
                      (together ? "shfl.sync.idx.b32 %r5, %t, 0, 31, -1;\n" : "") +
                      "xor.b32 %r0, %r0, 4;\nld.shared.u32 %r3, [%r0];\n" + store_word("%r3"),
                  kTile);
    output(kernel, "y", 256);
    CHECK_EQUAL(std::size_t{together ? 0u : 1u}, checked(kernel, 32).findings.size());
  }
}

TEST("checks: an atomic and a plain write of one word collide, two atomics do not") {
  for (const bool plain : {false, true}) {
    Kernel kernel(1,
                  "setp.eq.u32 %p1, %t, 0;\n"
                  "@%p1 atom.global.add.u32 %r1, [%x0], 1;\n" +
                      std::string(plain ? "@!%p1 st.global.u32 [%x0], 5;\n"
                                        : "@!%p1 atom.global.add.u32 %r1, [%x0], 2;\n"));
    kernel.buffer("x", {1});
    CHECK_EQUAL(plain, !checked(kernel, 32).findings.empty());
  }
}

TEST("checks: what was found before a fault comes with it") {
  Kernel kernel(1,
                kOwnPlace + "ld.shared.u32 %r3, [%r0];\n" + store_word("%r3") +
                    "ld.global.u32 %r3, [%rd49+4096];\n" + store_word("%r3"),
                kTile);
  output(kernel, "y", 256);
  LaunchSpec spec = kernel.spec(32, 1);
  spec.checks.accesses = true;
  try {
    kernel.device().launch(spec);
    CHECK(false);
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::illegal_address);
    CHECK_EQUAL(std::size_t{1}, fault.detail().findings->size());
    CHECK(fault.detail().findings->front().what.kind == FaultKind::uninitialized_read);
  }
}

TEST("checks: a value that is only chosen from may have been loaded before its condition") {
  const std::string begin = "ld.shared.u32 %r3, [tile+4];\nsetp.eq.u32 %p1, %t, 99;\n";
  for (const bool chosen : {false, true}) {
    Kernel kernel(1,
                  begin + (chosen ? "selp.b32 %r4, %r3, 0, %p1;\n" : "add.u32 %r4, %r3, 1;\n") +
                      store_word("%r4"),
                  kTile);
    output(kernel, "y", 256);
    CHECK_EQUAL(std::size_t{chosen ? 0u : 1u}, checked(kernel, 32).findings.size());
  }
}
