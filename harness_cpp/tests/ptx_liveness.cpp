#include <cstdlib>
#include <map>
#include <random>

#include "check.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

Module module_of(const std::string& body) {
  return parse(
      ".version 9.5\n.entry k {.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>;"
      ".reg .b64 %d<9>; .reg .b128 %q<9>;" +
      body + "}");
}

struct Assigned {
  SlotAssignment slots;
  std::map<std::string, std::int32_t> slot;  // by register name
};

Assigned assign(const std::string& body) {
  const Module module = module_of(body);
  const Function& function = module.functions[0];
  Assigned assigned{assign_slots(function, build_control_flow(function)), {}};
  for (std::size_t i = 0; i < function.registers.size(); ++i)
    assigned.slot[function.registers[i].name] = assigned.slots.slot_of[i];
  return assigned;
}

// One lane, registers as `place` puts them. Each instruction writes a number that depends on what
// it read, so that any clobbered value shows in the trace.
std::vector<std::uint64_t> execute(const Function& function, const std::vector<std::int32_t>& place,
                                   std::size_t places, unsigned seed) {
  std::vector<std::uint64_t> values(places, 0), trace;
  std::vector<bool> defined(function.registers.size(), false);
  std::mt19937 random(seed);
  for (std::size_t pc = 0, steps = 0; pc < function.instructions.size() && steps < 200; ++steps) {
    const Instruction& instruction = function.instructions[pc];
    const bool taken = instruction.guard < 0 || random() % 2 == 0;
    ++pc;
    if (instruction.opcode == "bra" && taken) pc = instruction.operands[0].target;
    if (instruction.opcode == "ret" && taken) break;
    if (instruction.opcode != "add" || !taken) continue;
    std::uint64_t value = steps + 1;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      const std::int32_t reg = instruction.operands[i].reg;
      // What was never written has no value to protect.
      if (defined[reg]) value = value * 31 + values[place[reg]];
    }
    trace.push_back(value);
    const std::int32_t result = instruction.operands[0].reg;
    values[place[result]] = value;
    defined[result] = true;
  }
  return trace;
}

std::string random_body(std::mt19937& random) {
  const int blocks = 1 + static_cast<int>(random() % 8);
  const auto reg = [&] { return "%r" + std::to_string(random() % 10); };
  std::string body;
  for (int b = 0; b < blocks; ++b) {
    body += "L" + std::to_string(b) + ":";
    for (unsigned i = random() % 5; i > 0; --i)
      body += (random() % 4 == 0 ? "@%p1 " : "") + ("add.s32 " + reg()) + "," + reg() + "," +
              reg() + ";";
    const std::string target = "L" + std::to_string(random() % blocks) + ";";
    if (random() % 3 != 0) body += (random() % 4 == 0 ? "bra " : "@%p1 bra ") + target;
  }
  return body + "ret;";
}

}  // namespace

TEST("registers whose lives do not meet share a slot") {
  const Assigned assigned =
      assign("add.s32 %r1, 1, 1; add.s32 %r2, %r1, 1; add.s32 %r3, %r2, 1; add.s32 %r4, %r3, 1;");
  CHECK_EQUAL(2, assigned.slots.slots32);
  CHECK_EQUAL(assigned.slot.at("%r1"), assigned.slot.at("%r3"));
}

TEST("an instruction's results never share with its sources") {
  const Assigned assigned = assign("add.s32 %r1, 1, 1; shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, -1;");
  CHECK(assigned.slot.at("%r1") != assigned.slot.at("%r2"));
}

TEST("every class has slots of its own") {
  const Assigned assigned = assign(
      "mov.b16 %h1, 1; mov.b32 %r1, 1; mov.b64 %d1, 1; mov.b128 %q1, %q2; setp.eq.s32 %p1, 1, 1;"
      "foo %h1, %r1, %d1, %q1, %p1;");
  CHECK_EQUAL(2, assigned.slots.slots32);
  CHECK_EQUAL(5, assigned.slots.slots64);
  CHECK_EQUAL(1, assigned.slots.predicates);
  CHECK(std::abs(assigned.slot.at("%q1") - assigned.slot.at("%q2")) >= 2);
}

TEST("a value the next round of a loop reads lives through the whole loop") {
  const Assigned assigned = assign(
      "add.s32 %r1, 1, 1; L: add.s32 %r2, %r1, 1; st.b32 [%d1], %r2;"
      "add.s32 %r3, 1, 1; st.b32 [%d1], %r3; @%p1 bra L; ret;");
  CHECK(assigned.slot.at("%r3") != assigned.slot.at("%r1"));
  CHECK_EQUAL(assigned.slot.at("%r2"), assigned.slot.at("%r3"));
}

TEST("a guarded write keeps the value of the round before alive") {
  const Assigned assigned = assign(
      "L: @%p1 add.s32 %r1, 3, 3; st.b32 [%d1], %r1; add.s32 %r2, 2, 2; st.b32 [%d1], %r2;"
      "@%p2 bra L;");
  CHECK(assigned.slot.at("%r1") != assigned.slot.at("%r2"));
}

TEST("a register read but never written lives from the start") {
  const Assigned assigned = assign("add.s32 %r1, 1, 1; st.b32 [%d1], %r1; st.b32 [%d1], %r2; ret;");
  CHECK(assigned.slot.at("%r1") != assigned.slot.at("%r2"));
}

TEST("addresses, vectors and guards are uses") {
  const Assigned assigned = assign(
      "mov.b64 %d1, 1; mov.b32 %r1, 1; setp.eq.s32 %p1, 1, 1; setp.eq.s32 %p2, 2, 2;"
      "mov.b64 %d2, 2; mov.b32 %r2, 2; foo %d2, %r2, %p2; @%p1 st.v2.b32 [%d1], {%r1, %r1};");
  CHECK(assigned.slot.at("%d1") != assigned.slot.at("%d2"));
  CHECK(assigned.slot.at("%r1") != assigned.slot.at("%r2"));
  CHECK(assigned.slot.at("%p1") != assigned.slot.at("%p2"));
}

TEST("random programs compute the same with shared slots") {
  std::mt19937 random(11);
  int saved = 0;
  for (int program = 0; program < 400; ++program) {
    const std::string body = random_body(random);
    const Module module = module_of(body);
    const Function& function = module.functions[0];
    const SlotAssignment slots = assign_slots(function, build_control_flow(function));
    std::vector<std::int32_t> own(function.registers.size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int32_t>(i);
    for (unsigned seed = 0; seed < 5; ++seed)
      if (execute(function, own, own.size(), seed) !=
          execute(function, slots.slot_of, slots.slots32 + 1, seed))
        throw check::Failure("slots clobber a value in " + body);
    saved += static_cast<int>(own.size()) - slots.slots32;
  }
  CHECK(saved > 100);
}
