// What timing learns of tensor cores, asynchronous copies and tiles.
#include "check.hpp"
#include "ptx/parser.hpp"
#include "sim/timed_code.hpp"
#include "sim/timed_matrix.hpp"

using namespace cudaopt;
using namespace cudaopt::sim;
using Kind = TimedOp::Kind;

namespace {

struct Timed {
  ptx::Module module;
  TimedOp op;
};

Timed timed(const std::string& instruction) {
  Timed result{ptx::parse(".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
                          ".reg .b32 %r<40>;\n.reg .b64 %rd<16>;\n" +
                          instruction + ";\nret;\n}\n"),
               {}};
  Op op;
  op.pc = op.instruction = 0;
  op.pipe = Pipe::tensor;
  op.latency = 24;
  result.op = timed_code(result.module.functions.front(), {op}).ops.at(0);
  return result;
}

const std::string kFour = "{%r0,%r1,%r2,%r3}", kMore = "{%r4,%r5,%r6,%r7}, {%r8,%r9}, ";

}  // namespace

TEST("timed matrix: slots count what a product takes of the tensor cores") {
  CHECK_EQUAL(1, static_cast<int>(timed("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " +
                                        kFour + ", " + kMore + kFour)
                                      .op.slots));
  CHECK_EQUAL(2, static_cast<int>(timed("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 " +
                                        kFour + ", " + kMore + kFour)
                                      .op.slots));
  CHECK_EQUAL(3, static_cast<int>(timed("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                                        "{%rd0,%rd1}, {%rd2}, {%rd3}, {%rd0,%rd1}")
                                      .op.slots));
}

TEST("timed matrix: a product waits for all its fragments") {
  const Timed got = timed("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + kFour + ", " +
                          kMore + "{%r10,%r11,%r12,%r13}");
  CHECK_EQUAL(13, got.op.read[9]);
  CHECK_EQUAL(-1, got.op.read[10]);
  CHECK_EQUAL(3, got.op.written[3]);
}

TEST("timed matrix: copies read global memory, and groups are told apart") {
  const Timed copy = timed("cp.async.cg.shared.global [%r0], [%rd0], 16");
  CHECK(copy.op.kind == Kind::load && copy.op.space == ptx::Space::global);
  CHECK(copy.op.copy == CopyStep::start && copy.op.any_order);
  CHECK_EQUAL(16, static_cast<int>(copy.op.bytes));
  CHECK(timed("cp.async.commit_group").op.copy == CopyStep::commit);
  CHECK(timed("cp.async.wait_all").op.copy == CopyStep::wait_all);
  const Timed wait = timed("cp.async.wait_group 2");
  CHECK(wait.op.copy == CopyStep::wait_group);
  CHECK_EQUAL(2, static_cast<int>(wait.op.pending_groups));
}

TEST("timed matrix: rows of ldmatrix are shared memory, tiles of wmma bring their addresses") {
  const Timed rows = timed("ldmatrix.sync.aligned.m8n8.x4.shared.b16 " + kFour + ", [%r8]");
  CHECK(rows.op.kind == Kind::load && rows.op.space == ptx::Space::shared);
  CHECK_EQUAL(16, static_cast<int>(rows.op.bytes));
  const Timed tile = timed("wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%rd0], {%rd1,%rd2}");
  CHECK(tile.op.kind == Kind::store && tile.op.is_tile);
}
