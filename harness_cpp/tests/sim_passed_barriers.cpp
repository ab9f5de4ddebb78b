// Exits behind barriers, and ends that count as returns.
#include "ptx/parser.hpp"
#include "sim/kernel_ends.hpp"
#include "sim/reconvergence.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// The fault of two warps of which the first goes through `barrier`.
std::string outcome(const std::string& body) {
  Kernel kernel(1, "setp.lt.u32 %p1, %t, 32;\nmov.u32 %r1, 1;\n" + body);
  kernel.buffer("y", Words(64));
  try {
    kernel.run(64);
  } catch (const Fault& fault) {
    CHECK(FaultKind::barrier_divergence == fault.detail().kind);
    return fault.what();
  }
  return "";
}

bool passes(const std::string& body) {
  return outcome(body).find("went past without it") != std::string::npos;
}

std::size_t ends_of(const std::string& body) {
  const ptx::Module module = ptx::parse(Kernel::module_text(1, body, ""));
  const ptx::Function& function = module.functions.front();
  const ptx::ControlFlow flow = ptx::build_control_flow(function);
  const auto returning = sim::returning_blocks(function, flow);
  const auto ends = sim::kernel_ends(function, flow, returning);
  return static_cast<std::size_t>(std::count(ends.begin(), ends.end(), true) -
                                  std::count(returning.begin(), returning.end(), true));
}

const std::string kBranch = "setp.lt.u32 %p1, %t, 32;\nmov.u32 %r1, 1;\n@!%p1 bra MEET;\n";

}  // namespace

TEST("a warp that skips a barrier and does more behind it has gone past it") {
  const std::string message = outcome("@!%p1 bra MEET;\n.loc 1 4 1\nbar.sync 0;\nMEET:\n" +
                                      store_word("%t") + ".loc 1 9 1\nret;\n");
  CHECK_EQUAL(
      std::string("kernel 'k': threads wait at a barrier that thread (32,0,0) went past "
                  "without it, to its end at k.cu:9; every thread of the block must execute "
                  "the same barrier, or return before it, at k.cu:4, block (0,0,0), thread "
                  "(0,0,0)"),
      message);
}

TEST("a return before the barrier is not going past it") {
  CHECK_EQUAL(std::string(), outcome("@!%p1 ret;\nbar.sync 0;\n" + store_word("%t")));
  CHECK_EQUAL(std::string(), outcome("@%p1 bra GO;\n" + store_word("7") +
                                     "ret;\nGO:\nbar.sync 0;\n" + store_word("%t")));
}

TEST("a return from a loop with a barrier is not going past it, its end is") {
  // Warp 0 goes round three times, warp 1 once.
  const std::string bound =
      "selp.u32 %r2, 3, 1, %p1;\nmov.u32 %r3, 0;\nL:\nbar.sync 0;\n"
      "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, %r2;\n";
  CHECK_EQUAL(std::string(), outcome(bound + "@!%p2 ret;\nbra L;\n"));
  CHECK_EQUAL(std::string(), outcome(bound + "@%p2 bra L;\n"));
  CHECK(passes(bound + "@%p2 bra L;\n" + store_word("%t")));
}

TEST("barriers of some warps, and barriers without .aligned, may be passed") {
  const auto skips = [](const std::string& barrier) {
    return outcome("@!%p1 bra MEET;\n" + barrier + "\nMEET:\n" + store_word("%t"));
  };
  CHECK_EQUAL(std::string(), skips("bar.sync 1, 32;"));
  CHECK_EQUAL(std::string(), skips("barrier.sync 0;"));
  CHECK(skips("barrier.sync.aligned 0;") != "");
}

TEST("a store of what differs by way and a return is an end, which may be two in one") {
  CHECK_EQUAL(1u, ends_of(kBranch + "bar.sync 0;\nmov.u32 %r1, 2;\nMEET:\n" + store_word("%r1")));
  CHECK_EQUAL(0u, ends_of(kBranch + "bar.sync 0;\nmov.u32 %r2, 2;\nMEET:\n" + store_word("%r1")));
  CHECK_EQUAL(0u,
              ends_of(kBranch + "bar.sync 0;\nmov.u32 %r1, 2;\nMEET:\nld.shared.u32 %r4, [%r3];\n" +
                      store_word("%r1")));
}

TEST("lanes and warps that come to such an end early are not a divergence") {
  for (const char* test : {"setp.lt.u32 %p1, %t, 32;\n", "setp.lt.u32 %p1, %t, 40;\n"}) {
    Kernel kernel(1, "mov.u32 %r1, 1;\n" + std::string(test) +
                         "@!%p1 bra MEET;\nbar.sync 0;\nmov.u32 %r1, 2;\nMEET:\n" +
                         store_word("%r1"));
    kernel.buffer("y", Words(64));
    kernel.run(64);
    CHECK_EQUAL(2u, kernel.read("y")[31]);
    CHECK_EQUAL(1u, kernel.read("y")[63]);
  }
}
