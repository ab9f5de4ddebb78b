#include "check.hpp"
#include "ptx/body.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

Module kernel(const std::string& body) { return parse(".version 9.5\n.entry k {" + body + "}"); }

std::string register_name(const Function& function, const Operand& operand) {
  CHECK(operand.kind == Operand::Kind::reg);
  return function.registers.at(operand.reg).name;
}

}  // namespace

TEST("registers of a range exist once used and know their class") {
  const Module module = kernel(
      ".reg .pred %p<2>; .reg .b16 %rs<3>; .reg .f32 %f<4000000000>; .reg .b64 %rd<9>, %SP;"
      "cvt.u64.u32 %rd8, %f7; mov.u64 %SP, %rd8; mov.b16 %rs2, 1; setp.eq.s32 %p1, %f7, 0;");
  const Function& function = module.functions[0];
  CHECK_EQUAL(5u, function.registers.size());
  const RegisterClass classes[] = {RegisterClass::b64, RegisterClass::b32, RegisterClass::b64,
                                   RegisterClass::b16, RegisterClass::predicate};
  for (int i = 0; i < 5; ++i) CHECK(classes[i] == function.registers[i].type);
  CHECK_EQUAL("%rd8", function.registers[0].name);
}

TEST("a register outside its range is not one") {
  const Module module = kernel(".reg .b32 %r<3>; mov.b32 %r2, %r3; mov.b32 %r1, %r01;");
  for (const Instruction& instruction : module.functions[0].instructions)
    CHECK(instruction.operands[1].kind == Operand::Kind::special);
}

TEST("a scope's register hides the outer one and gets a name of its own") {
  const Module module = kernel(
      ".reg .b32 t; mov.b32 t, 1; { .reg .b64 t; mov.b64 t, 2; { mov.b64 t, 3; } }"
      "{ .reg .b32 t; mov.b32 t, 4; } mov.b32 t, 5;");
  const Function& function = module.functions[0];
  const char* names[] = {"t", "t#1", "t#1", "t#2", "t"};
  for (int i = 0; i < 5; ++i)
    CHECK_EQUAL(names[i], register_name(function, function.instructions[i].operands[0]));
  CHECK(function.registers[1].type == RegisterClass::b64);
}

TEST("call sequences have parameters of their own") {
  const Module module = kernel(
      "{ .param .b32 param0; st.param.b32 [param0+0], 1; call f, (param0); }"
      "{ .param .align 8 .b8 param0[16]; call f, (param0); }");
  const Function& function = module.functions[0];
  CHECK_EQUAL("param0", function.variables[0].name);
  CHECK_EQUAL("param0#1", function.variables[1].name);
  CHECK(function.variables[1].space == Space::param);
  CHECK_EQUAL(16u, function.variables[1].bytes);
  CHECK_EQUAL("param0", function.instructions[0].operands[0].elements[0].name);
  CHECK_EQUAL("param0#1", function.instructions[2].operands[2].elements[0].name);
}

TEST("a branch knows the instruction its label names, forward and back and at the end") {
  const Module module = kernel("A: B: bra C; bra A; C: bra.uni B; bra END; END:");
  const auto& instructions = module.functions[0].instructions;
  const std::int32_t targets[] = {2, 0, 0, 4};
  for (int i = 0; i < 4; ++i) CHECK_EQUAL(targets[i], instructions[i].operands[0].target);
  CHECK_EQUAL("C", instructions[0].operands[0].name);
}

TEST("inline assembly may define the same label in every scope") {
  const Module module = kernel(
      "{ WAIT: add.s32 %x, 1, 1; bra WAIT; bra DONE; DONE: }"
      "{ WAIT: add.s32 %x, 1, 1; bra WAIT; bra DONE; DONE: } ret;");
  const auto& instructions = module.functions[0].instructions;
  CHECK_EQUAL(0, instructions[1].operands[0].target);
  CHECK_EQUAL(3, instructions[2].operands[0].target);
  CHECK_EQUAL(3, instructions[4].operands[0].target);
  CHECK_EQUAL(6, instructions[5].operands[0].target);
}

TEST("an indexed branch has its labels in order") {
  const Module module = kernel(
      ".reg .b32 %r<1>; .reg .pred %q<1>; A: ret; ts: .branchtargets B, A, B;"
      "@%q0 brx.idx.uni %r0, ts; B: ret;");
  const Instruction& branch = module.functions[0].instructions[1];
  CHECK_EQUAL(2u, branch.operands.size());
  const std::int32_t targets[] = {2, 0, 2};
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(targets[i], branch.operands[1].elements.at(i).target);
}

TEST("an indirect call finds its prototype") {
  const Module module = kernel(
      ".reg .b64 %rd<1>; { .param .b32 a; .param .b32 r;"
      "p_5 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;"
      "call (r), %rd0, (a), p_5; }");
  const Function& function = module.functions[0];
  const auto& operands = function.instructions[0].operands;
  CHECK_EQUAL(4u, operands.size());
  CHECK_EQUAL("r", operands[0].elements.at(0).name);
  CHECK(operands[1].kind == Operand::Kind::reg);
  CHECK_EQUAL(function.prototypes.at(0).name, operands[3].name);
  CHECK_EQUAL(8u, function.prototypes[0].parameters.at(1).offset);
}

TEST("instructions carry text, guard and the location before them") {
  const Module module = kernel(
      ".reg .pred %p<2>; ret; .loc 1 7 2\nL: .pragma \"nounroll\";\n@!%p1 ret.uni ;\n@%p1 exit;");
  const auto& instructions = module.functions[0].instructions;
  CHECK_EQUAL(-1, instructions[0].location);
  CHECK_EQUAL(-1, instructions[0].guard);
  CHECK_EQUAL("@!%p1 ret.uni", instructions[1].text);
  CHECK_EQUAL(0, instructions[1].guard);
  CHECK(instructions[1].guard_negated);
  CHECK(!instructions[2].guard_negated);
  CHECK_EQUAL(7u, module.locations.at(instructions[1].location).line);
}

TEST("only a predicate can guard an instruction") {
  CHECK_THROWS(ParseError, kernel(".reg .b32 %r<2>;\n@%r1 exit;"));
  CHECK_THROWS(ParseError, kernel("@%undeclared exit;"));
}

TEST("shared and local variables belong to the function") {
  const Module module =
      kernel(".shared .align 4 .b8 s[128]; .local .align 16 .b8 __local_depot0[16]; ret;");
  CHECK(module.functions[0].variables[0].space == Space::shared);
  CHECK(module.functions[0].variables[1].space == Space::local);
  CHECK_EQUAL(16u, module.functions[0].variables[1].alignment);
}

TEST("unknown opcodes are kept") {
  const Module module = kernel("frobnicate.sync.2d.x::y::z [%foo], {1, 2}, _;");
  CHECK_EQUAL("frobnicate", module.functions[0].instructions[0].opcode);
  CHECK_EQUAL("x::y::z", module.functions[0].instructions[0].modifiers[2]);
}

TEST("bodies that make no sense are ParseErrors") {
  for (const char* body : {"bra NOWHERE;",
                           "A: A: ret;",
                           "bra;",
                           "bra [A];",
                           "brx.idx 1, nothing;",
                           "brx.idx 1;",
                           "@%p1 ret;",
                           "@ret;",
                           "ret",
                           "{ ret;",
                           ".reg .b7 x;",
                           ".reg .b32 %r<x>;",
                           "5;",
                           ".loc 1;",
                           ".loc 1 2 3, nonsense;",
                           "call (a) f;",
                           "x: .callprototype _ (;",
                           ".calltargets f;",
                           "y: .calltargets f",
                           ".entry"})
    CHECK_THROWS(ParseError, kernel(body));
}

TEST("scopes nest to a limit") {
  CHECK_EQUAL(0u,
              kernel(std::string(60, '{') + std::string(60, '}')).functions[0].registers.size());
  CHECK_THROWS(ParseError, kernel(std::string(100000, '{')));
}
