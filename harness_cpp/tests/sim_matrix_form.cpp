#include "check.hpp"
#include "ptx/parser.hpp"
#include "sim/matrix_form.hpp"

using namespace cudaopt;
using namespace cudaopt::sim;

namespace {

const char* const kHead =
    ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<64>;\n"
    ".reg .b64 %rd<16>;\n";

// The first instruction of an entry; the module keeps the text it points into.
struct Parsed {
  ptx::Module module;

  explicit Parsed(const std::string& instruction)
      : module(ptx::parse(kHead + instruction + ";\nret;\n}\n")) {}
  [[nodiscard]] const ptx::Instruction& get() const {
    return module.functions.at(0).instructions.at(0);
  }
};

std::optional<MatrixForm> matrix_of(const std::string& instruction) {
  return matrix_form(Parsed(instruction).get());
}

std::optional<TileForm> tile_of(const std::string& instruction) {
  return tile_form(Parsed(instruction).get());
}

const std::string kHalves =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, "
    "{%r8,%r9}, {%r0,%r1,%r2,%r3}";

}  // namespace

TEST("an mma says its shape, types and how many registers each operand has") {
  const auto form = matrix_of(kHalves);
  CHECK(form.has_value());
  CHECK_EQUAL(16, static_cast<int>(form->shape.m));
  CHECK_EQUAL(8, static_cast<int>(form->shape.n));
  CHECK_EQUAL(16, static_cast<int>(form->shape.k));
  CHECK(form->a == Element::f16 && form->d == Element::f32);
  CHECK_EQUAL(4, static_cast<int>(form->a_registers));
  CHECK_EQUAL(2, static_cast<int>(form->b_registers));
  CHECK(!form->saturates && form->product == Product::multiply);
}

TEST("integers saturate where it is written, and bits combine as it is written") {
  const auto saturated = matrix_of(
      "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%r0,%r1}, {%r2}, {%r3}, "
      "{%r0,%r1}");
  CHECK(saturated.has_value() && saturated->saturates);
  CHECK(saturated->a == Element::s8 && saturated->b == Element::u8);
  const auto bits = matrix_of(
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r0,%r1}, {%r2}, {%r3}, "
      "{%r0,%r1}");
  CHECK(bits.has_value() && bits->product == Product::exclusive_or);
}

TEST("a wmma of halves leaves their types out and may hold elements twice") {
  const auto form = matrix_of(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r0,%r1,%r2,%r3}, "
      "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, {%r12,%r13,%r14,%r15,%r16,%r17,%r18,%r19}, "
      "{%r0,%r1,%r2,%r3}");
  CHECK(form.has_value());
  CHECK(form->a == Element::f16 && form->d == Element::f16);
  CHECK_EQUAL(8, static_cast<int>(form->a_registers));
}

TEST("an mma with registers too many or too few is no form") {
  std::string text = kHalves;
  CHECK(!matrix_of(text.replace(text.find("{%r8,%r9}"), 9, "{%r8}")).has_value());
  text = kHalves;
  CHECK(!matrix_of(text.replace(text.find("m16n8k16"), 8, "m16n8k8")).has_value());
}

TEST("types that no tensor core multiplies are no form") {
  for (const std::string types : {"f32.f16.bf16.f32", "f32.f32.f32.f32", "f64.f16.f16.f64",
                                  "s32.f16.f16.s32", "f16.bf16.bf16.f16"}) {
    std::string text = kHalves;
    CHECK(!matrix_of(text.replace(text.find("f32.f16.f16.f32"), 15, types)).has_value());
  }
}

TEST("a tile says its extents, layout, space and stride") {
  const auto form =
      tile_of("wmma.load.b.sync.aligned.col.m8n32k16.shared.s8 {%r0,%r1,%r2,%r3}, [%r4], %r5");
  CHECK(form.has_value());
  CHECK(form->role == TileForm::Role::b && form->column_major && form->has_stride);
  CHECK(form->space == ptx::Space::shared && !form->stores);
  CHECK_EQUAL(16, static_cast<int>(form->rows));
  CHECK_EQUAL(32, static_cast<int>(form->columns));
  const auto stored = tile_of("wmma.store.d.sync.aligned.row.m8n8k4.f64 [%rd0], {%rd1,%rd2}");
  CHECK(stored.has_value() && stored->stores && !stored->has_stride);
}

TEST("a tile of the wrong role or with the wrong registers is no form") {
  CHECK(!tile_of("wmma.store.a.sync.aligned.row.m8n8k4.f64 [%rd0], {%rd1}").has_value());
  CHECK(!tile_of("wmma.load.d.sync.aligned.row.m8n8k4.f64 {%rd1,%rd2}, [%rd0]").has_value());
  CHECK(!tile_of("wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0}, [%rd0]").has_value());
  CHECK(!tile_of("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%rd0]").has_value());
}
