// One block through caches and scoreboard, with instructions and addresses made by hand.
#include <numeric>

#include "check.hpp"
#include "sim/memory.hpp"
#include "sim/tracer.hpp"

using namespace cudaopt;
using namespace cudaopt::sim;
using Kind = TimedOp::Kind;

namespace {

constexpr model::TraceSettings kSettings{64 * 1024, 40, 300, 1000, 30, 20, 60, 600};

// A warp whose only register holds one 64-bit address per lane.
struct Machine {
  alignas(64) std::uint64_t addresses[kLanes] = {};
  TimedCode code;
  Warp warp;
  std::vector<Op> ops;

  Machine() {
    warp.registers = reinterpret_cast<std::uint8_t*>(addresses);
    code.registers = 4;
  }

  const Op& add(Kind kind, ptx::Space space, std::uint8_t bytes, std::int32_t written = -1,
                std::int32_t read = -1) {
    TimedOp timed;
    timed.kind = kind;
    timed.space = space;
    timed.bytes = bytes;
    timed.written[0] = written;
    timed.read[0] = read;
    code.ops.push_back(timed);
    Op op;
    op.pc = static_cast<std::int32_t>(ops.size());
    op.src[0] = 0;
    op.address = Slot::b64;
    ops.push_back(op);
    return ops.back();
  }

  void set(std::uint64_t base, std::uint64_t stride) {
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) addresses[lane] = base + lane * stride;
  }
};

}  // namespace

TEST("tracer: a first touch costs DRAM, a second one L1") {
  Machine machine;
  machine.add(Kind::load, ptx::Space::global, 4, 0);
  machine.add(Kind::compute, ptx::Space::none, 0, 1, 0);
  machine.set(kGlobalStride, 4);
  BlockTracer tracer(machine.code, kSettings, 1);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  tracer.step(machine.warp, machine.ops[1], kAllLanes);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  const model::BlockTrace trace = tracer.finish({});
  CHECK_EQUAL(1000u, trace.critical_cycles);
  CHECK_EQUAL(1u, trace.critical_first_misses);
  CHECK_EQUAL(4u, trace.l2_read_sectors);
  CHECK_EQUAL(4u, trace.l1_hit_sectors);
  CHECK_EQUAL(2u, trace.lsu_wavefronts);
  CHECK_EQUAL(1u, trace.touched.size());
  CHECK_EQUAL(2u, trace.touched[0].read_units);
}

TEST("tracer: stores count whole and partial sectors, and wait for nobody") {
  Machine machine;
  machine.add(Kind::store, ptx::Space::global, 4);
  BlockTracer tracer(machine.code, kSettings, 1);
  machine.set(kGlobalStride, 4);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  machine.set(kGlobalStride + 65536, 64);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  const model::BlockTrace trace = tracer.finish({});
  CHECK_EQUAL(4u, trace.l2_written_sectors);
  CHECK_EQUAL(32u, trace.l2_partial_sectors);
  CHECK_EQUAL(1u + 16u, trace.lsu_wavefronts);
  CHECK(trace.critical_cycles < 10);
}

TEST("tracer: a load takes a wavefront for every line it touches") {
  Machine machine;
  machine.add(Kind::load, ptx::Space::global, 4, 0);
  BlockTracer tracer(machine.code, kSettings, 1);
  machine.set(kGlobalStride, 4096);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  CHECK_EQUAL(32u, tracer.finish({}).lsu_wavefronts);
}

TEST("tracer: generic addresses go where their window says") {
  Machine machine;
  machine.add(Kind::load, ptx::Space::none, 4, 0);
  BlockTracer tracer(machine.code, kSettings, 1);
  machine.set(kSharedWindow, 128);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  CHECK_EQUAL(0u, tracer.finish({}).l2_read_sectors);
  CHECK_EQUAL(32u, tracer.finish({}).lsu_wavefronts);
}

TEST("tracer: a joined shared load rides on its leader's passes") {
  Machine machine;
  machine.add(Kind::load, ptx::Space::shared, 4, 0);
  machine.add(Kind::load, ptx::Space::shared, 4, 1);
  machine.set(kSharedWindow, 16);
  const auto wavefronts = [&] {
    BlockTracer tracer(machine.code, kSettings, 1);
    for (const Op& op : machine.ops) tracer.step(machine.warp, op, kAllLanes);
    return tracer.finish({}).lsu_wavefronts;
  };
  CHECK_EQUAL(8u, wavefronts());
  machine.code.ops[1].leader = 0;
  CHECK_EQUAL(4u, wavefronts());
}

TEST("tracer: atomics on one address count once per request, on many as often as there are") {
  Machine machine;
  machine.add(Kind::atomic, ptx::Space::global, 4);
  BlockTracer tracer(machine.code, kSettings, 1);
  machine.set(kGlobalStride, 0);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  machine.set(kGlobalStride, 512);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  const model::BlockTrace trace = tracer.finish({});
  CHECK_EQUAL(33u, trace.global_atomic_operations);
  CHECK_EQUAL(32u, trace.granules.size());
  CHECK_EQUAL(2u, trace.granules[0].operations);
}

TEST("tracer: shared atomics on one word take a turn per lane") {
  Machine machine;
  machine.add(Kind::atomic, ptx::Space::shared, 4);
  BlockTracer tracer(machine.code, kSettings, 1);
  machine.set(kSharedWindow, 0);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  CHECK_EQUAL(32u, tracer.finish({}).shared_atomic_wavefronts);
  machine.set(kSharedWindow, 4);
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  CHECK_EQUAL(33u, tracer.finish({}).shared_atomic_wavefronts);
}

TEST("tracer: a barrier makes its warps wait for the slowest") {
  Machine machine;
  machine.add(Kind::load, ptx::Space::global, 4, 0);
  machine.add(Kind::boundary, ptx::Space::none, 0, -1, 0);
  machine.set(kGlobalStride, 4);
  BlockTracer tracer(machine.code, kSettings, 2);
  for (const Op& op : machine.ops) tracer.step(machine.warp, op, kAllLanes);
  tracer.barrier_released(0x3);
  machine.warp.index = 1;
  tracer.step(machine.warp, machine.ops[0], kAllLanes);
  tracer.step(machine.warp, machine.ops[1], kAllLanes);
  const model::BlockTrace trace = tracer.finish({});
  CHECK(trace.critical_cycles >= 1000 + 20 + 40);
  CHECK_EQUAL(1u, trace.critical_first_misses);
}

TEST("tracer: an instruction whose lanes are all off still takes its issue slot") {
  Machine machine;
  machine.add(Kind::load, ptx::Space::global, 4, 0);
  BlockTracer tracer(machine.code, kSettings, 1);
  tracer.step(machine.warp, machine.ops[0], 0);
  const model::BlockTrace trace = tracer.finish({});
  CHECK_EQUAL(0u, trace.l2_read_sectors);
  CHECK_EQUAL(1u, std::accumulate(trace.pipe_slots.begin(), trace.pipe_slots.end(), 0u));
}
