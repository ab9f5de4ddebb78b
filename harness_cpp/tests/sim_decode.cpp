// What decode makes of operands and of instructions nobody executes.
#include <array>

#include "isa.hpp"
#include "ptx/parser.hpp"
#include "sim/decode.hpp"
#include "sim/instruction_set.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const std::string kUnknown =
    ".loc 1 41 "
    "3\nwgmma.fence.sync.aligned;\nwgmma.fence.sync.aligned;\nwgmma.commit_group.sync.aligned;\n";

}  // namespace

TEST("an unknown instruction fails only when it is reached, and says what to do") {
  const std::string body =
      "setp.lt.u32 %p1, %b, 5;\n@%p1 bra END;\n" + kUnknown + "END:\n" + store_word("%t");
  Kernel kernel(1, body);
  kernel.buffer("y", Words(32));
  kernel.run(32, 5);
  CHECK_WORDS(counting(32), kernel.read("y"));
  const FaultDetail fault = kernel.fault(32, 6);
  CHECK(FaultKind::unsupported_instruction == fault.kind);
  CHECK_EQUAL(41, fault.at->line);
  CHECK_EQUAL(
      std::string("sim cannot execute 'wgmma.fence.sync.aligned' (kernel k, k.cu:41). Not a "
                  "fault of the kernel. Run on a GPU, or avoid the form."),
      fault.message);
}

TEST("loading notes each unknown form once") {
  const Kernel kernel(0, kUnknown);
  CHECK_EQUAL(2u, kernel.notes.size());
  const Kernel known(0, "add.u32 %r1, %t, 1;");
  CHECK_EQUAL(0u, known.notes.size());
}

TEST("a register narrower than the instruction wants makes it unknown, not wrong") {
  const Kernel kernel(0, "add.u32 %rd1, %rd1, 1;");
  CHECK_EQUAL(1u, kernel.notes.size());
}

TEST("operands nobody reads make a form unknown, not wrong") {
  const Kernel kernel(0, "add.u32 %r1, %t, 1, %t;");
  CHECK_EQUAL(1u, kernel.notes.size());
  const Kernel known(0, "prefetch.global.L2 [%rd1];\nsad.u32 %r1, %t, 1, %t;");
  CHECK_EQUAL(0u, known.notes.size());
}

TEST("special registers have the values of their thread") {
  Kernel kernel(
      1,
      "mov.u32 %r1, %laneid;\nmov.u32 %r2, %warpid;\nmad.lo.u32 %r3, %r2, 32, %r1;\n"
      "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %nctaid.x;\nmad.lo.u32 %r3, %r4, 1000, %r3;\n"
      "mad.lo.u32 %r3, %r5, 1000000, %r3;\nmov.u32 %r6, %lanemask_lt;\npopc.b32 %r7, %r6;\n"
      "sub.u32 %r8, %r7, %r1;\nadd.u32 %r3, %r3, %r8;\nmov.u32 %r9, %lanemask_ge;\n"
      "not.b32 %r9, %r9;\nsub.u32 %r9, %r9, %r6;\nadd.u32 %r3, %r3, %r9;\n" +
          store_word("%r3"));
  kernel.buffer("y", Words(64));
  kernel.run(64, 3);
  CHECK_WORDS(counting(64, 3064000), kernel.read("y"));
}

TEST("three-dimensional blocks and grids number threads x first") {
  const std::string module = Kernel::module_text(
      1,
      "mov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\nmad.lo.u32 %r3, %r1, 10, %t;\n"
      "mad.lo.u32 %r3, %r2, 100, %r3;\nmov.u32 %r4, %ctaid.y;\nmov.u32 %r5, %ctaid.z;\n"
      "mad.lo.u32 %r3, %r4, 1000, %r3;\nmad.lo.u32 %r3, %r5, 10000, %r3;\nmad.lo.u32 %r6, %r1, 3, "
      "%t;\n"
      "mad.lo.u32 %r6, %r2, 6, %r6;\nmad.lo.u32 %r7, %r5, 2, %r4;\nmad.lo.u32 %r6, %r7, 24, %r6;\n"
      "mul.wide.u32 %rd1, %r6, 4;\nadd.s64 %rd2, %x0, %rd1;\nst.global.u32 [%rd2], %r3;",
      "");
  Kernel kernel(module);
  kernel.buffer("y", Words(96));
  LaunchSpec spec = kernel.spec(3, 1);
  spec.block = {3, 2, 4};
  spec.grid = {1, 2, 2};
  (void)kernel.device().launch(spec);
  Words expected;
  for (std::uint32_t b = 0; b < 4; ++b) {
    for (std::uint32_t i = 0; i < 24; ++i) {
      expected.push_back(b / 2 * 10000 + b % 2 * 1000 + i / 6 * 100 + i / 3 % 2 * 10 + i % 3);
    }
  }
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("parameters of every size arrive, extended to their registers") {
  Kernel kernel(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y, .param .u8 "
      "a, "
      ".param .s16 b, .param .f64 c, .param .align 4 .b8 d[12])\n{\n.reg .b32 %r<9>;\n"
      ".reg .b16 %h<3>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [y];\nld.param.s8 %r1, [a];\n"
      "ld.param.s16 %rd2, [b];\nld.param.b64 %rd3, [c];\nld.param.u32 %r2, [d+4];\n"
      "mov.b64 %rd4, d;\nld.param.u32 %r3, [%rd4+8];\nld.param.v2.u32 {%r4, %r5}, [c];\n"
      "st.global.u32 [%rd1], %r1;\nst.global.u64 [%rd1+8], %rd2;\nst.global.u64 [%rd1+16], %rd3;\n"
      "st.global.u32 [%rd1+24], %r2;\nst.global.u32 [%rd1+28], %r3;\n"
      "st.global.v2.u32 [%rd1+32], {%r5, %r4};\nret;\n}\n");
  kernel.buffer("y", Words(10)).scalar(std::int8_t{-3}, "i8").scalar(std::int16_t{-5}, "i16");
  kernel.scalar(1.0, "f64").scalar(std::array<std::uint32_t, 3>{11, 12, 13}, "b8");
  kernel.run(1);
  CHECK_WORDS((Words{0xfffffffd, 0, 0xfffffffb, 0xffffffff, 0, 0x3ff00000, 12, 13, 0x3ff00000, 0}),
              kernel.read("y"));
}

TEST("immediates of 16-bit operations have no upper bits") {
  Kernel kernel(1, "mov.u16 %h1, -2;\nmov.b32 %r1, {%h1, %h1};\n" + store_word("%r1"));
  kernel.buffer("y", Words(1));
  kernel.run(1);
  CHECK_WORDS((Words{0xfffefffe}), kernel.read("y"));
}

TEST("mov packs and unpacks, also onto its own source") {
  Kernel kernel(
      1,
      "mov.b64 %rd1, {%t, 7};\nmov.b64 {%r1, %r2}, %rd1;\nmov.b32 {%h1, %h2}, 0x56781234;\n"
      "mov.b32 %r3, {%h2, %h1};\nmov.b64 {%h3, %h4, %h5, %h6}, 0x1111222233334444;\n"
      "mov.b64 %rd2, {%h6, %h5, %h4, %h3};\nmov.b64 {_, %r4}, %rd2;\n"
      "add.u32 %r5, %r1, %r2;\nadd.u32 %r5, %r5, %r3;\nadd.u32 %r5, %r5, %r4;\n" +
          store_word("%r5"));
  kernel.buffer("y", Words(32));
  kernel.run(32);
  CHECK_WORDS(counting(32, 7 + 0x12345678 + 0x44443333), kernel.read("y"));
}

TEST("a branch to a block that only returns becomes a return") {
  sim::DeviceMemory memory;
  const sim::ModuleImage image(
      ptx::parse(Kernel::module_text(
          0, "setp.lt.u32 %p1, %t, 3;\n@%p1 bra END;\nbar.sync 0;\nEND:\n", "")),
      "k.cu", memory);
  const sim::Program program =
      sim::decode(image, image.module().functions.front(), sim::instruction_set(host_isa()).bind);
  for (const sim::Op& op : program.code) CHECK(!op.is_branch);
}
