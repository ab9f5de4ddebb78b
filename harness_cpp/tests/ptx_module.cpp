#include "check.hpp"
#include "ptx/module.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

TEST("an instruction's type is its last modifier") {
  Instruction instruction;
  CHECK_EQUAL("", instruction.type());
  instruction.modifiers = {"global", "nc", "f32"};
  CHECK_EQUAL("f32", instruction.type());
  CHECK(instruction.has("nc"));
  CHECK(!instruction.has("v4"));
}

TEST("readable text is one line without comments") {
  Instruction instruction;
  instruction.text = "call (r), \n\tf, // callee\n\t(\n\ta\n\t)";
  CHECK_EQUAL("call (r), f, ( a )", instruction.readable_text());
  instruction.text = "add.s32 \t%r1,/* x */ 1";
  CHECK_EQUAL("add.s32 %r1, 1", instruction.readable_text());
  instruction.text = "ret // the end";
  CHECK_EQUAL("ret", instruction.readable_text());
}

TEST("a moved module still owns the text its instructions point into") {
  Module first = parse(".version 9.5 .func f { ret; }");
  const Module second = std::move(first);
  const Instruction& ret = second.find("f")->instructions.at(0);
  CHECK(ret.opcode.data() >= second.text.data());
  CHECK(ret.opcode.data() < second.text.data() + second.text.size());
  CHECK_EQUAL("ret", ret.opcode);
}
