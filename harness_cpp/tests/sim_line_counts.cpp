// Counters by source line: what each line counts, the same for any number of threads, and what the
// launch counts in all.
#include <map>

#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// Lines 3 and 4 load and store, line 5 parts every warp, line 6 hits one bank 32 times.
const std::string kLines =
    ".loc 1 2 0\nmad.lo.u32 %r1, %b, 64, %t;\nmul.wide.u32 %rd1, %r1, 4;\n"
    "add.s64 %rd2, %x0, %rd1;\n"
    ".loc 1 3 0\nld.global.u32 %r2, [%rd2];\n"
    ".loc 1 4 0\nst.global.u32 [%rd2], %r2;\n"
    ".loc 1 5 0\nand.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra EVEN;\n"
    ".loc 1 7 0\nadd.u32 %r2, %r2, 7;\nEVEN:\n"
    ".loc 1 6 0\nmov.u64 %rd3, tile;\nand.b32 %r4, %t, 31;\nmul.wide.u32 %rd4, %r4, 128;\n"
    "add.s64 %rd3, %rd3, %rd4;\nst.shared.u32 [%rd3], %r2;";
const std::string kTile = ".shared .align 4 .b8 tile[4096];";

Measurement measure(unsigned threads, std::uint32_t grid, bool by_line) {
  SimOptions options;
  options.threads = threads;
  Kernel kernel(1, kLines, kTile, options);
  kernel.buffer("y", counting(grid * 64));
  MeasureSpec how;
  how.by_line = by_line;
  return kernel.device().measure(kernel.spec(64, grid), how);
}

std::map<int, Counters> by_line(const Measurement& measurement) {
  std::map<int, Counters> lines;
  for (const LineCounters& line : measurement.by_line.value()) {
    CHECK_EQUAL(std::string("k.cu"), line.at.file);
    lines[line.at.line] = line.counters;
  }
  return lines;
}

}  // namespace

TEST("each line counts what its own instructions did") {
  const auto lines = by_line(measure(1, 10, true));
  CHECK_EQUAL(6u, lines.size());
  CHECK_EQUAL(20u * 3u * 32u, lines.at(2).lane_instructions);  // without those that load parameters
  CHECK_EQUAL(20u, lines.at(3).global_load_requests);
  CHECK_EQUAL(80u, lines.at(3).global_load_sectors);
  CHECK_EQUAL(0u, lines.at(3).global_store_requests);
  CHECK_EQUAL(80u, lines.at(4).global_store_sectors);
  CHECK_EQUAL(20u, lines.at(5).divergent_branches);
  CHECK_EQUAL(0u, lines.at(4).divergent_branches);
  CHECK_EQUAL(20u, lines.at(6).shared_requests);
  CHECK_EQUAL(640u, lines.at(6).shared_wavefronts);
  CHECK_EQUAL(20u * 16u, lines.at(7).lane_instructions);
  CHECK_EQUAL(20u, lines.at(7).total_warp_instructions());
}

TEST("lines add up to what the launch counts, but for instructions without one") {
  const Measurement measurement = measure(1, 10, true);
  Counters sum;
  for (const auto& [line, counters] : by_line(measurement)) sum.add(counters);
  CHECK_EQUAL(measurement.counters.global_load_sectors, sum.global_load_sectors);
  CHECK_EQUAL(measurement.counters.shared_wavefronts, sum.shared_wavefronts);
  CHECK_EQUAL(measurement.counters.divergent_branches, sum.divergent_branches);
  CHECK(sum.total_warp_instructions() < measurement.counters.total_warp_instructions());
  CHECK_EQUAL(0u, sum.blocks);
}

TEST("counters by line are those of the whole launch where only some blocks were executed") {
  const auto lines = by_line(measure(1, 3000, true));
  CHECK_EQUAL(6000u, lines.at(3).global_load_requests);
  CHECK_EQUAL(192'000u, lines.at(6).shared_wavefronts);
}

TEST("counters by line are the same for any number of threads") {
  const auto one = by_line(measure(1, 3000, true)), three = by_line(measure(3, 3000, true));
  CHECK_EQUAL(one.size(), three.size());
  for (const auto& [line, counters] : one) {
    CHECK(counters.warp_instructions == three.at(line).warp_instructions);
    for (const auto counter : kSummedCounters)
      CHECK_EQUAL(counters.*counter, three.at(line).*counter);
  }
}

TEST("asking for lines changes nothing else, and without asking there are none") {
  const Measurement with = measure(1, 100, true), without = measure(1, 100, false);
  CHECK(!without.by_line);
  CHECK_EQUAL(without.median_ns, with.median_ns);
  CHECK(without.terms_ns == with.terms_ns);
  CHECK(without.counters.warp_instructions == with.counters.warp_instructions);
}

TEST("a module without line tables has no lines") {
  SimOptions options;
  options.threads = 1;
  Kernel kernel(1, "st.global.u32 [%x0], %t;", "", options);
  kernel.buffer("y", counting(64));
  MeasureSpec how;
  how.by_line = true;
  CHECK(kernel.device().measure(kernel.spec(32, 1), how).by_line.value().empty());
}
