// The modelled measurement as the device answers it.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const std::string kIncrement =
    "mad.lo.u32 %r1, %b, 64, %t;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %x0, %rd1;\n"
    "ld.global.u32 %r2, [%rd2];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd2], %r2;";

Measurement measure_with(unsigned threads, std::uint32_t grid) {
  SimOptions options;
  options.threads = threads;
  Kernel kernel(1, kIncrement, "", options);
  kernel.buffer("y", counting(grid * 64));
  const Measurement measurement = kernel.device().measure(kernel.spec(64, grid), {});
  CHECK_WORDS(counting(grid * 64), kernel.read("y"));
  return measurement;
}

}  // namespace

TEST("a measurement is modelled, the same for any number of threads, and leaves memory as it was") {
  const Measurement one = measure_with(1, 3000);
  CHECK(Measurement::Kind::modelled == one.kind);
  CHECK(one.median_ns > 0);
  CHECK_EQUAL(3000u, one.blocks);
  CHECK(one.blocks_sampled >= 16 && one.blocks_sampled < 3000);
  const Measurement three = measure_with(3, 3000);
  CHECK_EQUAL(one.median_ns, three.median_ns);
  CHECK(one.terms_ns == three.terms_ns);
  CHECK(one.counters.warp_instructions == three.counters.warp_instructions);
}

TEST("a small launch is measured whole and its counters are those of a launch") {
  const Measurement measurement = measure_with(1, 10);
  CHECK_EQUAL(10u, measurement.blocks_sampled);
  Kernel kernel(1, kIncrement);
  kernel.buffer("y", counting(640));
  const Counters counters = kernel.run(64, 10);
  CHECK(counters.warp_instructions == measurement.counters.warp_instructions);
  CHECK_EQUAL(counters.lane_instructions, measurement.counters.lane_instructions);
  CHECK_EQUAL(counters.global_load_sectors, measurement.counters.global_load_sectors);
}

TEST("a fault while measuring leaves memory as it was") {
  Kernel kernel(1, kIncrement + "\nst.global.u32 [%x0+4096], %r2;");
  kernel.buffer("y", counting(64));
  CHECK_THROWS(Fault, kernel.device().measure(kernel.spec(64, 1), {}));
  CHECK_WORDS(counting(64), kernel.read("y"));
}

TEST("another device table or handler set by an unknown name is refused") {
  SimOptions options;
  options.model = "h201";
  CHECK_THROWS(Fault, make_sim_device(options));
  options = SimOptions{};
  options.isa = "arm";
  CHECK_THROWS(Fault, make_sim_device(options));
}

TEST("sim refuses to interleave, and says what to do instead") {
  Kernel kernel(1, kIncrement);
  kernel.buffer("y", counting(64));
  InterleaveSpec spec;
  spec.arms = {kernel.spec(64, 1), kernel.spec(32, 2)};
  try {
    (void)kernel.device().interleave(spec);
    throw check::Failure("interleaved");
  } catch (const Fault& fault) {
    CHECK(FaultKind::invalid_request == fault.detail().kind);
    CHECK(std::string(fault.what()).find("\"measure\"") != std::string::npos);
  }
}
