// Which uses of undefined values are findings, in PTX.
#include "sim_kernel.hpp"

namespace {

using namespace sim_test;

const std::string kVariables = ".shared .align 16 .b8 tile[256];\n";

std::vector<Finding> found(const std::string& body) {
  Kernel kernel(1, body, kVariables);
  kernel.buffer("y", Words(64));
  LaunchSpec spec = kernel.spec(32, 1);
  spec.checks.accesses = true;
  return kernel.device().launch(spec).findings;
}

// Lanes 4 to 15 read lanes 20 to 31, which have returned.
const std::string kShuffle =
    "setp.ge.u32 %p1, %t, 20;\n@%p1 ret;\n.loc 1 7 1\n"
    "shfl.sync.down.b32 %r1, %t, 16, 31, -1;\n.loc 1 9 1\n";
const std::string kOwnPlace = "mov.u32 %r9, tile;\nshl.b32 %r8, %t, 2;\nadd.u32 %r9, %r9, %r8;\n";
// Of two words of local memory the first is written, and both are loaded.
const std::string kVector =
    ".local .align 8 .b8 pair[8];\nmov.u32 %r9, pair;\nst.local.u32 [%r9], %t;\n"
    "ld.local.v2.u32 {%r1, %r2}, [%r9];\n";

std::string use_of(const std::string& computation) {
  return kShuffle + computation + store_word("%r2");
}

}  // namespace

TEST("undefined: a value from a lane that takes no part is found where it is used") {
  const std::vector<Finding> findings = found(kShuffle + store_word("%r1"));
  CHECK_EQUAL(std::size_t{1}, findings.size());
  CHECK(findings[0].what.kind == FaultKind::absent_lane);
  CHECK_EQUAL(
      std::string("kernel 'k': lane 4 gets an undefined value from lane 20, which has ended or is "
                  "not named, by the shuffle at k.cu:7, block (0,0,0), thread (4,0,0), and "
                  "something depends on it at k.cu:9; let every lane take part, or do not use what "
                  "comes from absent ones"),
      findings[0].what.message);
}

TEST("undefined: computations, choices, atomics, shuffles and memory pass it on") {
  for (const char* computation : {
           "add.u32 %r2, %r1, 1;\n",
           "setp.gt.u32 %p2, %r1, 3;\nselp.b32 %r2, 1, 0, %p2;\n",
           "setp.gt.u32 %p2, %t, 3;\nselp.b32 %r2, %r1, 0, %p2;\n",
           "and.b32 %r2, %r1, 255;\n",
           "setp.gt.u32 %p2, %r1, 3;\n@%p2 bra MEET;\nMEET:\nmov.u32 %r2, 0;\n",
           "mov.b64 %rd9, {%r1, %t};\nmov.b64 {%r2, %r3}, %rd9;\n",
           "atom.global.add.u32 %r2, [%x0+128], %r1;\n",
           "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n",
       }) {
    CHECK_EQUAL(std::size_t{1}, found(use_of(computation)).size());
  }
  CHECK_EQUAL(std::size_t{1},
              found(use_of(kOwnPlace + "st.shared.u32 [%r9], %r1;\nbar.warp.sync -1;\n"
                                       "ld.shared.u32 %r2, [%r9];\n"))
                  .size());
}

TEST("undefined: what is thrown away is no finding") {
  for (const char* computation : {
           "mov.u32 %r2, 0;\n",
           "add.u32 %r2, %r1, 1;\nmov.u32 %r2, %t;\n",
           "setp.lt.u32 %p2, %t, 4;\nselp.b32 %r2, %r1, 0, %p2;\n",
           "setp.lt.u32 %p2, %t, 4;\nmov.u32 %r2, 0;\n@%p2 mov.u32 %r2, %r1;\n",
           "setp.lt.u32 %p2, %t, 4;\nsetp.gt.u32 %p3, %r1, 3;\nand.pred %p4, %p2, %p3;\n"
           "selp.b32 %r2, 1, 0, %p4;\n",
           "setp.ge.u32 %p2, %t, 4;\nsetp.gt.u32 %p3, %r1, 3;\nor.pred %p4, %p2, %p3;\n"
           "selp.b32 %r2, 1, 0, %p4;\n",
           "setp.lt.u32 %p2, %t, 4;\nsetp.gt.and.u32 %p3, %r1, 3, %p2;\n"
           "selp.b32 %r2, 1, 0, %p3;\n",
           "and.b32 %r2, %r1, 0;\n",
           "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n",
       }) {
    CHECK_EQUAL(std::size_t{0}, found(use_of(computation)).size());
  }
  const std::string into_memory = kOwnPlace + "st.shared.u32 [%r9], %r1;\n";
  CHECK(found(use_of(into_memory + "mov.u32 %r2, 1;\n")).empty());
  CHECK(
      found(use_of(into_memory + "st.shared.u32 [%r9], %t;\nld.shared.u32 %r2, [%r9];\n")).empty());
}

TEST("undefined: a part of a vector that was never written counts where it goes alone") {
  const std::vector<Finding> findings = found(kVector + store_word("%r2"));
  CHECK_EQUAL(std::size_t{1}, findings.size());
  CHECK(findings[0].what.kind == FaultKind::uninitialized_read);
  CHECK_EQUAL(std::int64_t{1}, *findings[0].what.element);
  CHECK(found(kVector + store_word("%r1")).empty());
}

TEST("undefined: padding may be copied with what it pads") {
  const std::string place = "mul.wide.u32 %rd9, %t, 8;\nadd.s64 %rd9, %x0, %rd9;\n";
  CHECK(found(kVector + place + "st.global.v2.u32 [%rd9], {%r1, %r2};\n").empty());
  CHECK(
      found(kVector + place + "mov.b64 %rd8, {%r1, %r2};\nst.global.u64 [%rd9], %rd8;\n").empty());
  CHECK(!found(kVector + place + "st.global.v2.u32 [%rd9], {%r2, %r2};\n").empty());
}

TEST("undefined: the values of one block are not those of the next") {
  Kernel kernel(1,
                "setp.eq.u32 %p2, %b, 0;\n@!%p2 bra GO;\n" + kShuffle + "GO:\n" +
                    "@!%p2 st.global.u32 [%x0], %r1;\n",
                kVariables);
  kernel.buffer("y", Words(64));
  LaunchSpec spec = kernel.spec(32, 2);
  spec.checks.accesses = true;
  CHECK(kernel.device().launch(spec).findings.empty());
}
