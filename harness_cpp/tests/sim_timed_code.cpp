// What timing learns from the text of instructions.
#include "check.hpp"
#include "ptx/parser.hpp"
#include "sim/timed_code.hpp"

using namespace cudaopt;
using namespace cudaopt::sim;
using Kind = TimedOp::Kind;

namespace {

struct Timed {
  ptx::Module module;
  TimedCode code;
};

// One op per instruction of `body`, as decode makes them.
Timed timed(const std::string& body) {
  Timed result{ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
                          ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n"
                          ".reg .b64 %rd<8>;\n.shared .align 16 .b8 s[4096];\n" +
                          body + "ret;\n}\n"),
               {}};
  const ptx::Function& function = result.module.functions.front();
  std::vector<Op> ops(function.instructions.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].pc = ops[i].instruction = static_cast<std::int32_t>(i);
    ops[i].is_branch = function.instructions[i].opcode == "bra";
    ops[i].guard = function.instructions[i].guard;
    if (ops[i].is_branch) ops[i].target = function.instructions[i].operands[0].target;
  }
  result.code = timed_code(function, ops);
  return result;
}

}  // namespace

TEST("timed code: kinds, spaces and widths of memory instructions") {
  const Timed got = timed(
      "ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+16];\n"
      "st.shared.f64 [%r1], %rd2;\n"
      "atom.global.add.u32 %r2, [%rd1], %r3;\n"
      "ld.u16 %r4, [%rd1];\n"
      "bar.sync 0;\n");
  const auto& ops = got.code.ops;
  CHECK(ops[0].kind == Kind::load && ops[0].space == ptx::Space::global && ops[0].any_order);
  CHECK_EQUAL(16, static_cast<int>(ops[0].bytes));
  CHECK(ops[1].kind == Kind::store && ops[1].space == ptx::Space::shared);
  CHECK_EQUAL(8, static_cast<int>(ops[1].bytes));
  CHECK(ops[2].kind == Kind::atomic);
  CHECK(ops[3].kind == Kind::load && ops[3].space == ptx::Space::none && !ops[3].any_order);
  CHECK_EQUAL(2, static_cast<int>(ops[3].bytes));
  CHECK(ops[4].kind == Kind::boundary && ops[5].kind == Kind::boundary);
}

TEST("timed code: registers read and written, guard and address base among them") {
  const Timed got = timed("@%p1 ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f1, %f3, %f2;\n");
  const auto& registers = got.module.functions.front().registers;
  const auto name = [&](std::int32_t index) {
    return index < 0 ? std::string("none") : registers[static_cast<std::size_t>(index)].name;
  };
  CHECK_EQUAL(std::string("%f1"), name(got.code.ops[0].written[0]));
  CHECK_EQUAL(std::string("%rd1"), name(got.code.ops[0].read[0]));
  CHECK_EQUAL(std::string("%p1"), name(got.code.ops[0].read[1]));
  CHECK_EQUAL(std::string("%f2"), name(got.code.ops[1].written[0]));
  CHECK_EQUAL(std::string("%f2"), name(got.code.ops[1].read[2]));
  CHECK_EQUAL(std::string("none"), name(got.code.ops[1].read[3]));
}

TEST("timed code: moves are free, divisions and 64-bit integers are not one instruction") {
  const Timed got = timed(
      "mov.u32 %r1, %r2;\n"
      "add.s32 %r1, %r2, %r3;\n"
      "add.s64 %rd1, %rd2, %rd3;\n"
      "div.s32 %r1, %r2, %r3;\n"
      "div.rn.f32 %f1, %f2, %f3;\n");
  CHECK_EQUAL(0, static_cast<int>(got.code.ops[0].slots));
  CHECK_EQUAL(1, static_cast<int>(got.code.ops[1].slots));
  CHECK_EQUAL(2, static_cast<int>(got.code.ops[2].slots));
  CHECK(got.code.ops[3].slots > 10);
  CHECK(got.code.ops[4].slots > 5);
}

TEST("timed code: shared loads of the words after a 16-byte boundary join its load") {
  const Timed got = timed(
      "ld.shared.f32 %f1, [%r1];\n"
      "ld.shared.f32 %f2, [%r2+128];\n"
      "ld.shared.f32 %f3, [%r1+4];\n"
      "ld.shared.f32 %f4, [%r1+12];\n"
      "ld.shared.f32 %f5, [%r1+16];\n"
      "ld.shared.f32 %f6, [%r2+132];\n");
  const auto& ops = got.code.ops;
  const std::int32_t expected[] = {-1, -1, 0, 0, -1, 1};
  for (std::size_t i = 0; i < 6; ++i) CHECK_EQUAL(expected[i], ops[i].leader);
  CHECK_EQUAL(0, static_cast<int>(ops[2].slots));
}

TEST("timed code: a store or the end of a block keeps shared loads apart") {
  const Timed got = timed(
      "ld.shared.f32 %f1, [%r1];\n"
      "st.shared.f32 [%r2], %f1;\n"
      "ld.shared.f32 %f2, [%r1+4];\n"
      "ld.shared.f32 %f3, [%r1+16];\n"
      "bar.sync 0;\n"
      "ld.shared.f32 %f4, [%r1+20];\n");
  for (const TimedOp& op : got.code.ops) CHECK_EQUAL(-1, op.leader);
}

TEST("timed code: a short skip is predicated, a long one and a loop end their block") {
  const Timed got = timed(
      "top:\n"
      "@%p1 bra skip;\n"
      "ld.global.f32 %f1, [%rd1];\n"
      "skip:\n"
      "@%p2 bra top;\n"
      "@%p1 bra synced;\n"
      "bar.sync 0;\n"
      "synced:\n"
      "add.s32 %r1, %r1, 1;\n");
  CHECK(got.code.ops[0].kind == Kind::compute);
  CHECK(got.code.ops[2].kind == Kind::boundary);
  CHECK(got.code.ops[3].kind == Kind::boundary);
}

TEST("timed code: an index times a size plus a base is one instruction") {
  const Timed got = timed(
      "mul.wide.s32 %rd1, %r1, 4;\n"
      "add.s64 %rd2, %rd3, %rd1;\n"
      "add.s64 %rd4, %rd3, %rd5;\n");
  CHECK_EQUAL(0, static_cast<int>(got.code.ops[0].slots));
  CHECK_EQUAL(1, static_cast<int>(got.code.ops[1].slots));
  CHECK_EQUAL(2, static_cast<int>(got.code.ops[2].slots));
}
