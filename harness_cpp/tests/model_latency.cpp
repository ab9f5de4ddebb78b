// The latency model on hand-made traces: what must raise the answer, and that it never varies.
#include <algorithm>
#include <stdexcept>

#include "check.hpp"
#include "model/latency.hpp"

using namespace cudaopt;
using namespace cudaopt::model;

namespace {

constexpr std::uint64_t kArray = std::uint64_t{1} << 40;

const DeviceTable& table() { return device_table("h200"); }

LaunchShape shape(std::uint32_t blocks, std::uint32_t threads) {
  LaunchShape launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.resources.registers = 32;
  launch.arrays = {{kArray, std::uint64_t{1} << 30}};
  return launch;
}

BlockTrace trace() {
  BlockTrace one;
  one.counters.blocks = 1;
  one.counters.warp_instructions[static_cast<std::size_t>(Pipe::fp32)] = 1000;
  one.pipe_slots[static_cast<std::size_t>(Pipe::fp32)] = 1000;
  one.critical_cycles = 3000;
  one.critical_first_misses = 1;
  one.lsu_wavefronts = 100;
  one.l2_read_sectors = 400;
  one.touched = {{kArray, 400, 0, 200, 0, 0}};
  return one;
}

double modelled(const LaunchShape& launch, const BlockTrace& one) {
  return model_latency(table(), launch, {one, one, one}).median_ns;
}

double term(const Measurement& measurement, const std::string& name) {
  for (const auto& [key, ns] : measurement.terms_ns) {
    if (key == name) return ns;
  }
  throw std::logic_error("no term " + name);
}

}  // namespace

TEST("model: more of anything never makes a launch faster") {
  const LaunchShape launch = shape(4096, 256);
  const double before = modelled(launch, trace());
  std::vector<BlockTrace> worse(8, trace());
  worse[0].pipe_slots[0] *= 100;
  worse[1].lsu_wavefronts *= 100;
  worse[2].l2_read_sectors *= 100;
  worse[3].l2_partial_sectors = 100'000;
  worse[4].touched[0].read_units *= 20;
  worse[5].critical_cycles *= 10;
  worse[6].global_atomic_operations = 1'000'000;
  worse[7].granules = {{kArray, 100'000}};
  for (const BlockTrace& one : worse) CHECK(modelled(launch, one) > before * 1.05);
}

TEST("model: the bound is the largest term, by name") {
  BlockTrace one = trace();
  one.lsu_wavefronts = 1'000'000;
  const Measurement got = model_latency(table(), shape(4096, 256), {one});
  CHECK_EQUAL(std::string("lsu"), got.bound);
  for (const auto& [name, ns] : got.terms_ns) CHECK(ns <= term(got, "lsu"));
  CHECK(got.median_ns >= term(got, "lsu"));
}

TEST("model: tiny blocks in great number are bound by the rate of block launches") {
  BlockTrace one = trace();
  one.critical_cycles = 100;
  one.touched.clear();
  one.l2_read_sectors = 0;
  one.lsu_wavefronts = 0;
  one.pipe_slots = {};
  const Measurement got = model_latency(table(), shape(1u << 20, 64), {one});
  CHECK_EQUAL(std::string("blocks"), got.bound);
  CHECK(term(got, "blocks") > 600'000);
  CHECK_EQUAL(term(got, "launch") + term(got, "blocks"), got.median_ns);
}

TEST("model: one block more than the SMs hold costs another wave") {
  const Measurement fits = model_latency(table(), shape(132 * 8, 256), {trace()});
  const Measurement more = model_latency(table(), shape(132 * 8 + 1, 256), {trace()});
  CHECK_EQUAL(2 * term(fits, "latency"), term(more, "latency"));
  CHECK(term(more, "tail") > 0);
  CHECK_EQUAL(0.0, term(fits, "tail"));
}

TEST("model: a busy last wave makes the launch longer by its tail") {
  BlockTrace busy = trace();
  busy.pipe_slots[static_cast<std::size_t>(Pipe::fp32)] = 1'000'000;
  const Measurement fits = model_latency(table(), shape(132 * 8, 256), {busy});
  const Measurement more = model_latency(table(), shape(132 * 8 + 1, 256), {busy});
  CHECK(term(more, "tail") > 0.05 * fits.median_ns);
  CHECK(more.median_ns > fits.median_ns + 0.9 * term(more, "tail"));
}

TEST("model: a single block has one SM's share of L2 and of everything an SM does") {
  const Measurement one = model_latency(table(), shape(1, 256), {trace()});
  const Measurement all = model_latency(table(), shape(132, 256), {trace()});
  CHECK(term(one, "l2") > 0.3 * term(all, "l2"));
  CHECK(term(one, "tail") > 100 * term(one, "fp32"));
  CHECK(one.median_ns <= all.median_ns);
}

TEST("model: repeated misses reach DRAM once the resident blocks outgrow L2") {
  LaunchShape launch = shape(1024, 256);
  BlockTrace one = trace();
  one.touched[0] = {kArray, 1000, 0, 500, 0, 0};
  one.l2_read_sectors = 3000;
  const double fits = term(model_latency(table(), launch, {one}), "dram");
  one.touched[0] = {kArray, 4000, 0, 2000, 0, 0};
  one.l2_read_sectors = 12000;
  const double spills = term(model_latency(table(), launch, {one}), "dram");
  CHECK(spills > 4.5 * fits);
}

TEST("model: what many blocks read of a small array is moved once") {
  LaunchShape launch = shape(4096, 256);
  launch.arrays[0].bytes = 64 * 1024;
  const Measurement got = model_latency(table(), launch, {trace()});
  CHECK(term(got, "dram") < 20);
}

TEST("model: equal traces give equal bits, and every counter of the launch") {
  const Measurement a =
      model_latency(table(), shape(999, 96), {trace(), trace(), trace(), trace()});
  const Measurement b =
      model_latency(table(), shape(999, 96), {trace(), trace(), trace(), trace()});
  CHECK_EQUAL(a.median_ns, b.median_ns);
  CHECK(a.terms_ns == b.terms_ns);
  CHECK_EQUAL(999u, a.counters.blocks);
  CHECK_EQUAL(999'000u, a.counters.total_warp_instructions());
  CHECK_EQUAL(0.0, a.spread);
}

TEST("model: no trace is an error, not a zero") {
  CHECK_THROWS(std::invalid_argument, model_latency(table(), shape(1, 32), {}));
}

TEST("trace settings: co-resident blocks share the L1 that shared memory leaves") {
  LaunchShape launch = shape(4096, 256);
  const std::uint32_t alone = trace_settings(table(), shape(1, 256)).l1_bytes;
  const std::uint32_t shared_by_eight = trace_settings(table(), launch).l1_bytes;
  launch.dynamic_shared_bytes = 20 * 1024;
  const std::uint32_t with_shared = trace_settings(table(), launch).l1_bytes;
  CHECK(alone > 7 * shared_by_eight);
  CHECK(with_shared < shared_by_eight);
}
