#include "check.hpp"
#include "ptx/parser.hpp"
#include "sim/form.hpp"

using namespace cudaopt;
using namespace cudaopt::sim;

namespace {

std::optional<Form> form_of(const std::string& instruction) {
  const ptx::Module module = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n" +
      instruction + ";\nret;\n}\n");
  return read_form(module.functions.at(0).instructions.at(0));
}

}  // namespace

TEST("a form keeps its types, rounding and modifiers apart and in order") {
  const auto form = form_of("cvt.rn.relu.bf16x2.f32 %r0, %r1, %r2");
  CHECK(form.has_value());
  CHECK(form->opcode == Opcode::cvt);
  CHECK(form->rounding == Rounding::rn);
  CHECK_EQUAL(2, static_cast<int>(form->type_count));
  CHECK(form->types[0] == Type::bf16x2 && form->types[1] == Type::f32);
  CHECK(form->has(Modifier::relu) && form->only({Modifier::relu}));
}

TEST("a modifier beyond those allowed is noticed") {
  const auto form = form_of("add.sat.ftz.f32 %r0, %r1, %r2");
  CHECK(form->only({Modifier::ftz, Modifier::sat}));
  CHECK(!form->only({Modifier::ftz}));
  CHECK(!form->only({}));
}

TEST("an opcode, type or modifier nobody knows gives no form") {
  CHECK(!form_of("tex.2d.f32 %r0, %r1").has_value());
  CHECK(!form_of("cvt.rn.satfinite.e2m1x2.f32 %r0, %r1, %r2").has_value());
  CHECK(!form_of("atom.global.add.L2::cache_hint.u32 %r0, [%rd0], %r1, %rd1").has_value());
}

TEST("two roundings give no form") { CHECK(!form_of("add.rn.rz.f32 %r0, %r1, %r2").has_value()); }

TEST("a register's width is its declaration's, whatever the instruction says") {
  ptx::Function function;
  function.registers = {{"%r0", ptx::RegisterClass::b32}, {"%rd0", ptx::RegisterClass::b64}};
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::reg;
  operand.reg = 0;
  CHECK(!is_wide_register(function, operand));
  operand.reg = 1;
  CHECK(is_wide_register(function, operand));
  operand.kind = ptx::Operand::Kind::immediate;
  CHECK(!is_wide_register(function, operand));
}
