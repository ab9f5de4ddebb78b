// Which memory instructions of a basic block share an address pattern.
#include "isa.hpp"
#include "ptx/parser.hpp"
#include "sim/decode.hpp"
#include "sim/instruction_set.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// The pattern of each load and store in order: "0 0' 1" where ' marks an unchanged base.
std::string patterns_of(const std::string& body) {
  sim::DeviceMemory memory;
  const sim::ModuleImage image(ptx::parse(Kernel::module_text(0, body, "")), "k.cu", memory);
  const sim::Program program =
      sim::decode(image, image.module().functions.front(), sim::instruction_set(host_isa()).bind);
  std::string text;
  for (const sim::Op& op : program.code) {
    if (op.memo < 0) continue;
    text += (text.empty() ? "" : " ") + std::to_string(op.memo) + (op.same_base ? "'" : "");
  }
  return text;
}

}  // namespace

TEST("accesses through one unchanged register share a pattern") {
  CHECK_EQUAL(std::string("0 0' 0'"),
              patterns_of("ld.global.u32 %r1, [%rd1];\nld.global.f32 %f1, [%rd1+4];\n"
                          "st.global.u32 [%rd1+8], %r1;"));
}

TEST("a changed register, another width or space, or another block begins anew") {
  CHECK_EQUAL(std::string("0 1"), patterns_of("ld.global.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\n"
                                              "ld.global.u32 %r2, [%rd1];"));
  CHECK_EQUAL(std::string("0 1 2"),
              patterns_of("ld.global.u32 %r1, [%rd1];\nld.global.u64 %rd2, [%rd1];\n"
                          "ld.u32 %r2, [%rd1];"));
  CHECK_EQUAL(std::string("0 1"),
              patterns_of("ld.global.u64 %rd1, [%rd1];\nld.global.u64 %rd2, [%rd1];"));
  CHECK_EQUAL(std::string("0 1"),
              patterns_of("ld.global.u32 %r1, [%rd1];\nL:\n"
                          "ld.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n"
                          "@%p1 bra L;"));
}

TEST("an instruction that may be skipped compares for nobody else") {
  CHECK_EQUAL(std::string("0 1"), patterns_of("@%p1 ld.global.u32 %r1, [%rd1];\n"
                                              "ld.global.u32 %r2, [%rd1];"));
}
