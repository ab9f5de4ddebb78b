#include "check.hpp"
#include "ptx/operands.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;
using Kind = Operand::Kind;

namespace {

// The one instruction of a kernel with a few registers and a variable. Its text and modifiers point
// into a module that is gone; its operands are its own.
Instruction instruction(const std::string& text) {
  Module module = parse(
      ".version 9.5\n.global .b8 table[64];.entry k {.reg .b32 %r<9>; .reg .f32 %f<9>;"
      ".reg .b64 %rd<9>; .reg .pred %p<9>; .shared .b8 s[64];" +
      text + ";}");
  CHECK_EQUAL(1u, module.functions[0].instructions.size());
  return std::move(module.functions[0].instructions[0]);
}

Operand last(const std::string& text) { return instruction(text).operands.back(); }

}  // namespace

TEST("an address is a base and a displacement") {
  struct Row {
    const char* text;
    Kind base;
    std::int64_t offset;
  };
  const Row rows[] = {
      {"ld.f32 %f1, [%rd1]", Kind::reg, 0},         {"ld.f32 %f1, [%rd1+8]", Kind::reg, 8},
      {"ld.f32 %f1, [%rd1+-4]", Kind::reg, -4},     {"ld.f32 %f1, [%rd1-4]", Kind::reg, -4},
      {"ld.f32 %f1, [s+0x10+4]", Kind::symbol, 20}, {"ld.f32 %f1, [table]", Kind::symbol, 0},
      {"ld.f32 %f1, [16]", Kind::immediate, 0},     {"ld.f32 %f1, [16 + 4]", Kind::immediate, 4}};
  for (const Row& row : rows) {
    const Operand address = last(row.text);
    CHECK(address.kind == Kind::address);
    CHECK(row.base == address.elements.at(0).kind);
    CHECK_EQUAL(row.offset, address.offset);
  }
  CHECK_EQUAL(16u, last("ld.f32 %f1, [16]").elements[0].bits);
  CHECK_EQUAL("table", last("ld.f32 %f1, [table]").elements[0].name);
}

TEST("a tensor's address carries its coordinates") {
  const Operand address = last("cp.async.bulk.tensor.2d.x [s], [%rd1, {%r1, %r2}]");
  CHECK_EQUAL(2u, address.elements.size());
  CHECK_EQUAL(2u, address.elements[1].elements.size());
}

TEST("a vector has elements, sinks among them") {
  const Instruction load = instruction("ld.global.v4.f32 {%f1, _, %f3, %f1}, [%rd1]");
  const Operand& vector = load.operands[0];
  CHECK(vector.kind == Kind::vector);
  CHECK_EQUAL(4u, vector.elements.size());
  CHECK(vector.elements[1].kind == Kind::sink);
  CHECK_EQUAL(vector.elements[0].reg, vector.elements[3].reg);
}

TEST("a pair of results is two operands") {
  const Instruction compare = instruction("setp.lt.and.s32 %p1|%p2, %r1, -3, !%p3");
  CHECK(compare.paired);
  CHECK_EQUAL(5u, compare.operands.size());
  CHECK(compare.operands[1].kind == Kind::reg);
  CHECK_EQUAL(static_cast<std::uint64_t>(-3), compare.operands[3].bits);
  CHECK(compare.operands[4].negated);
  CHECK(!instruction("add.s32 %r1, %r2, %r3").paired);
  CHECK(instruction("shfl.sync.up.b32 _|%p1, %r1, 1, 0, -1").operands[0].kind == Kind::sink);
}

TEST("immediates are sign-extended integers or float bits") {
  CHECK_EQUAL(0xfffffffffffffff8u, last("add.s32 %r1, %r1, -8").bits);
  CHECK_EQUAL(0x80000000u, last("mov.b32 %r1, 0x80000000").bits);
  CHECK_EQUAL(32, int{last("add.f32 %f1, %f1, 0f3F800000").float_width});
  CHECK_EQUAL(0xbf800000u, last("add.f32 %f1, %f1, -0f3F800000").bits);
  CHECK_EQUAL(64, int{last("add.f64 %rd1, %rd1, 0d3FF0000000000000").float_width});
}

TEST("a decimal float takes the width of the instruction") {
  CHECK_EQUAL(0x3fc00000u, last("add.f32 %f1, %f1, 1.5").bits);
  CHECK_EQUAL(0x3ff8000000000000u, last("add.f64 %rd1, %rd1, 1.5").bits);
}

TEST("special registers keep their component; WARP_SZ is 32") {
  CHECK_EQUAL("%tid.x", last("mov.u32 %r1, %tid.x").name);
  CHECK(last("mov.u32 %r1, %laneid").kind == Kind::special);
  CHECK_EQUAL(32u, last("mov.u32 %r1, WARP_SZ").bits);
}

TEST("a register's part is remembered") {
  const Operand part = last("vadd.s32.u8.u8 %r1, %r2, %r3.b1");
  CHECK(part.kind == Kind::reg);
  CHECK_EQUAL("b1", part.name);
}

TEST("the address of a variable may have an offset") {
  CHECK_EQUAL(8, last("mov.u64 %rd1, table+8").offset);
  CHECK_EQUAL(8, last("mov.u64 %rd1, table[8]").offset);
  CHECK_EQUAL("table", last("mov.u64 %rd1, table+8").name);
  CHECK_EQUAL(-8, last("mov.u64 %rd1, table-8").offset);
}

TEST("a call always has results, function and arguments") {
  struct Row {
    const char* text;
    std::size_t results, arguments, operands;
  };
  const Row rows[] = {{"call f", 0, 0, 3},
                      {"call f, ()", 0, 0, 3},
                      {"call.uni f, (s, 3)", 0, 2, 3},
                      {"call (s), f", 1, 0, 3},
                      {"call (%r1), f, (%r2, s)", 1, 2, 3},
                      {"call (s), %rd1, (s), p", 1, 1, 4},
                      {"call %rd1, p", 0, 0, 4}};
  for (const Row& row : rows) {
    const Instruction call = instruction(row.text);
    CHECK_EQUAL(row.operands, call.operands.size());
    CHECK_EQUAL(row.results, call.operands[0].elements.size());
    CHECK_EQUAL(row.arguments, call.operands[2].elements.size());
  }
  CHECK_EQUAL("f", instruction("call f").operands[1].name);
  CHECK_EQUAL("p", instruction("call %rd1, p").operands[3].name);
}

TEST("malformed operands are ParseErrors") {
  for (const char* text : {"add.s32 %r1, ", "ld.f32 %f1, [%rd1", "ld.f32 %f1, []",
                           "ld.f32 %f1, [%rd1+]", "ld.f32 %f1, [%rd1+%rd2]",
                           "ld.f32 {%f1, %f2, [%rd1]", "mov.b32 {{%r1}}, %r2", "mov.u32 %r1, --4",
                           "mov.u32 %r1, 0f3F8", "call (s f", "add.s32 %r1 %r2", "@%p1", "@!5 ret"})
    CHECK_THROWS(ParseError, instruction(text));
}
