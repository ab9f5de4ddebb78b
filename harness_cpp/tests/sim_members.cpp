// Warp-wide instructions that lanes reach at different times and places: who waits for whom.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const std::vector<Order> kOrders{{Order::Kind::forward, 0},
                                 {Order::Kind::random, 1},
                                 {Order::Kind::random, 2},
                                 {Order::Kind::random, 3}};

// y of 32 lanes, the same in any order.
Words output(const std::string& body) {
  Kernel kernel(1, body);
  kernel.buffer("y", Words(32));
  Words first;
  for (const Order& order : kOrders) {
    kernel.device().fill("y", {0, 0, 0, 0});
    LaunchSpec spec = kernel.spec(32, 1);
    spec.order = order;
    (void)kernel.device().launch(spec);
    const Words got = kernel.read("y");
    if (first.empty()) first = got;
    CHECK_WORDS(first, got);
  }
  return first;
}

FaultDetail fault_of(const std::string& body) {
  Kernel kernel(1, body);
  kernel.buffer("y", Words(32));
  return kernel.fault(32);
}

bool says(const FaultDetail& fault, const std::string& words) {
  return fault.message.find(words) != std::string::npos;
}

// One instruction in each way of `if (t < 16)`; operands differ, so that each is one of its own.
std::string in_both_ways(const std::string& low, const std::string& high) {
  return "add.u32 %r1, %t, 100;\nadd.u32 %r2, %t, 200;\nsetp.ge.u32 %p1, %t, 16;\n"
         "@%p1 bra HIGH;\n" +
         low + "bra MEET;\nHIGH:\n" + high + "MEET:\n" + store_word("%r3");
}

const std::string kUpperHalfSkips = "setp.ge.u32 %p1, %t, 16;\n@%p1 bra REST;\n";

}  // namespace

TEST("lanes shuffle with those that execute the same shuffle in the other way of a branch") {
  const Words got = output(in_both_ways("shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;\n",
                                        "shfl.sync.bfly.b32 %r3|%p2, %r2, 16, 31, -1;\n"));
  Words expected;
  for (std::uint32_t t = 0; t < 32; ++t) expected.push_back(t < 16 ? t + 216 : t + 84);
  CHECK_WORDS(expected, got);
}

TEST("votes of both ways of a branch are counted together, negated ones as negated") {
  const std::string odd = "and.b32 %r4, %t, 1;\nsetp.eq.u32 %p3, %r4, 1;\n";
  CHECK_WORDS(Words(32, 0x5555aaaau),
              output(odd + in_both_ways("vote.sync.ballot.b32 %r3, %p3, -1;\n",
                                        "vote.sync.ballot.b32 %r3, !%p3, -1;\n")));
  CHECK_WORDS(
      Words(32, 1),
      output(odd + in_both_ways("vote.sync.any.pred %p4, %p3, -1;\nselp.u32 %r3, 1, 0, %p4;\n",
                                "vote.sync.any.pred %p5, %p1, -1;\nselp.u32 %r3, 1, 0, %p5;\n")));
}

TEST("matches and reductions join lanes of several places") {
  CHECK_WORDS(Words(32, 0xffffffffu),
              output("mov.u64 %rd3, 0x500000001;\nmov.u64 %rd4, 0x500000001;\n" +
                     in_both_ways("match.any.sync.b64 %r3, %rd3, -1;\n",
                                  "match.any.sync.b64 %r3, %rd4, -1;\n")));
  CHECK_WORDS(Words(32, 231), output(in_both_ways("redux.sync.max.u32 %r3, %r1, -1;\n",
                                                  "redux.sync.max.u32 %r3, %r2, -1;\n")));
}

TEST("lanes of two loops meet at a warp barrier in each round") {
  // The lower half goes round with a barrier at one place, the upper half at another.
  const auto loop = [](const std::string& name, const std::string& counter) {
    return "mov.u32 " + counter + ", 0;\n" + name + ":\nbar.warp.sync -1;\nadd.u32 " + counter +
           ", " + counter + ", 1;\nsetp.lt.u32 %p2, " + counter + ", 5;\n@%p2 bra " + name + ";\n";
  };
  CHECK_WORDS(Words(32, 5), output(in_both_ways(loop("L", "%r3"), loop("H", "%r3"))));
}

TEST("lanes that leave one branch find those they name in the next") {
  // The lower half shuffles in a branch of its own, the upper half in the following one.
  const Words got = output(kUpperHalfSkips +
                           "shfl.sync.bfly.b32 %r3, %t, 16, 31, -1;\nREST:\n@!%p1 bra DONE;\n"
                           "shfl.sync.bfly.b32 %r3, %t, 16, 31, -1;\nDONE:\n" +
                           store_word("%r3"));
  Words expected;
  for (std::uint32_t t = 0; t < 32; ++t) expected.push_back(t ^ 16);
  CHECK_WORDS(expected, got);
}

TEST("lanes with masks of their own do not wait for other groups") {
  // Each quarter of the warp names itself; the quarters part before.
  CHECK_WORDS((Words{7,  7,  7,  7,  7,  7,  7,  7,  15, 15, 15, 15, 15, 15, 15, 15,
                     23, 23, 23, 23, 23, 23, 23, 23, 31, 31, 31, 31, 31, 31, 31, 31}),
              output("and.b32 %r4, %t, 24;\nmov.u32 %r5, 0xff;\nshl.b32 %r5, %r5, %r4;\n" +
                     in_both_ways("redux.sync.max.u32 %r3, %t, %r5;\n",
                                  "redux.sync.max.u32 %r3, %t, %r5;\n")));
}

TEST("lanes that returned early may be named, before and after the others arrive") {
  for (const char* way : {"@%p1 ret;\n", "@!%p1 bra GO;\nadd.u32 %r9, %t, 1;\nret;\nGO:\n"}) {
    CHECK_EQUAL(5u, output("setp.ge.u32 %p1, %t, 20;\n" + std::string(way) +
                           "redux.sync.min.u32 %r3, 5, -1;\n" + store_word("%r3"))[3]);
  }
}

TEST("named lanes that go past the instruction to the end are absent") {
  const FaultDetail fault =
      fault_of(kUpperHalfSkips + ".loc 1 7 1\nshfl.sync.bfly.b32 %r3, %t, 1, 31, -1;\nREST:\n" +
               store_word("%r3"));
  CHECK(FaultKind::absent_lane == fault.kind);
  CHECK_EQUAL(7, fault.at->line);
  CHECK(says(fault, "names lanes 16-31 that took another path"));
}

TEST("lanes that wait at other instructions, or for other lanes, are absent") {
  for (const char* other :
       {"shfl.sync.down.b32 %r3, %t, 1, 31, -1;\n", "bar.sync 0;\n",
        "shfl.sync.bfly.b32 %r3, %t, 1, 31, 0xffff0001;\n", "vote.sync.any.pred %p2, %p1, -1;\n"}) {
    const FaultDetail fault =
        fault_of(in_both_ways("shfl.sync.bfly.b32 %r3, %t, 1, 31, -1;\n", other));
    CHECK(FaultKind::absent_lane == fault.kind);
  }
}

TEST("a guarded warp barrier lets the other lanes go on") {
  CHECK_WORDS(counting(32),
              output("setp.lt.u32 %p1, %t, 16;\n@%p1 bar.warp.sync 0xffff;\n" + store_word("%t")));
  CHECK_WORDS(counting(32), output("setp.lt.u32 %p1, %t, 16;\n@%p1 bar.warp.sync -1;\n"
                                   "@!%p1 bar.warp.sync -1;\n" +
                                   store_word("%t")));
}

TEST("an instruction of the whole warp waits for lanes that come later, at its own place") {
  // Long enough a way for the lower half that turns at random reach the matrix without it.
  const std::string parts =
      "mov.u32 %r4, 0;\nsetp.ge.u32 %p1, %t, 16;\n@%p1 bra MEET;\nL:\nadd.u32 %r4, %r4, 1;\n"
      "setp.lt.u32 %p2, %r4, 300;\n@%p2 bra L;\nMEET:\n";
  const std::string transpose = "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %t;\n";
  CHECK_WORDS(output(transpose + store_word("%r3")), output(parts + transpose + store_word("%r3")));
}

TEST("an instruction of the whole warp in one way of a branch is never complete") {
  for (const char* end : {"", "bar.warp.sync -1;\n"}) {
    const FaultDetail fault = fault_of(
        kUpperHalfSkips + ".loc 1 6 1\nmovmatrix.sync.aligned.m8n8.trans.b16 %r3, %t;\nREST:\n" +
        end + store_word("%r3"));
    CHECK(FaultKind::absent_lane == fault.kind);
  }
}
