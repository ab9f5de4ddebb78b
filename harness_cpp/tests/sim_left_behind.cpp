// Reads behind a barrier of what a thread wrote that ended without coming to it.
#include "sim_kernel.hpp"

namespace {

using namespace sim_test;

const std::string kTile = ".shared .align 4 .b8 tile[256];\n";
const std::string kWriteOwn =
    "mov.u32 %r0, tile;\nshl.b32 %r2, %t, 2;\nadd.u32 %r0, %r0, %r2;\n"
    "st.shared.u32 [%r0], %t;\nmov.u32 %r1, 1;\n";

// The first `waiting` threads execute `behind` after a barrier, the others not; all come to one
// store of what differs, which may be two that the compiler made one.
std::vector<Finding> found(const std::string& before, int waiting, const std::string& behind) {
  Kernel kernel(1,
                before + "setp.lt.u32 %p1, %t, " + std::to_string(waiting) +
                    ";\n@!%p1 bra MEET;\n.loc 1 4 1\nbar.sync 0;\n.loc 1 5 1\n" + behind +
                    "MEET:\n" + store_word("%r1"),
                kTile);
  kernel.buffer("y", Words(64));
  LaunchSpec spec = kernel.spec(64, 1);
  spec.checks.accesses = true;
  return kernel.device().launch(spec).findings;
}

const std::string kReadLast = "ld.shared.u32 %r1, [tile+252];\n";

}  // namespace

TEST("checks: a barrier does not order what a thread wrote that went past it") {
  for (const int waiting : {32, 40}) {
    const std::vector<Finding> findings = found(kWriteOwn, waiting, kReadLast);
    CHECK_EQUAL(std::size_t{1}, findings.size());
    CHECK(findings[0].what.kind == FaultKind::barrier_divergence);
    CHECK_EQUAL(std::int64_t{4}, std::int64_t{findings[0].what.at->line});
    CHECK(findings[0].what.message.find("thread (63,0,0) went past a barrier") !=
          std::string::npos);
    CHECK(findings[0].what.message.find("reads tile[63] at k.cu:5") != std::string::npos);
  }
}

TEST("checks: what the barrier before it has ordered may be read") {
  CHECK(found(kWriteOwn + "bar.sync 0;\n", 32, kReadLast).empty());
}

TEST("checks: what was written by threads that came, or is written anew, may be read") {
  CHECK(found(kWriteOwn, 32, "ld.shared.u32 %r1, [tile];\n").empty());
  CHECK(found(kWriteOwn, 32,
              "st.shared.u32 [tile+252], 7;\nbar.sync 0;\nld.shared.u32 %r1, [tile+252];\n")
            .empty());
}

TEST("checks: what such a thread wrote is not there for the next block") {
  Kernel kernel(1,
                "setp.eq.u32 %p2, %b, 0;\nmov.u32 %r1, 1;\n@%p2 st.shared.u32 [tile+252], %t;\n"
                "setp.lt.u32 %p1, %t, 32;\n@!%p1 bra MEET;\nbar.sync 0;\n"
                "@!%p2 ld.shared.u32 %r1, [tile+252];\nMEET:\n" +
                    store_word("%r1"),
                kTile);
  kernel.buffer("y", Words(64));
  LaunchSpec spec = kernel.spec(64, 2);
  spec.checks.accesses = true;
  for (const Finding& finding : kernel.device().launch(spec).findings)
    CHECK(finding.what.kind != FaultKind::barrier_divergence);
}
