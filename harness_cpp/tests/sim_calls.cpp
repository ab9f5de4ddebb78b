// Calls, returns and tables of branches as PTX writes them, where C++ cannot ask for the form.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const std::string kScale =
    ".func (.param .b32 out) scale(.param .b32 x, .param .b32 by)\n{\n.reg .b32 %r<9>;\n"
    ".loc 1 100 1\nld.param.u32 %r1, [x];\nld.param.u32 %r2, [by];\n"
    "mul.lo.u32 %r3, %r1, %r2;\nst.param.b32 [out+0], %r3;\nret;\n}\n";

// %r2 = function(%r1 = x, by).
std::string call(const std::string& by, const std::string& guard = "",
                 const std::string& function = "scale", const std::string& end = "") {
  return "{\n.param .b32 p0;\nst.param.b32 [p0+0], %r1;\n.param .b32 p1;\nst.param.b32 [p1], " +
         by + ";\n.param .b32 back;\n" + guard + " call (back), " + function + ", (p0, p1)" + end +
         ";\n" + guard + " ld.param.b32 %r2, [back+0];\n}\n";
}

std::string prototype(const std::string& name) {
  return name + ": .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n";
}

const std::string kOwn = "mov.u32 %r1, %t;\nmov.u32 %r2, 5;\n";

Words run(const std::string& module_parts, const std::string& body, std::uint32_t threads = 40) {
  Kernel kernel(1, body, module_parts);
  kernel.buffer("y", Words(threads));
  kernel.run(threads);
  return kernel.read("y");
}

template <class Value>
Words each(std::uint32_t threads, Value value) {
  Words words;
  for (std::uint32_t t = 0; t < threads; ++t) words.push_back(value(t));
  return words;
}

}  // namespace

TEST("a guarded call runs for some lanes and the others wait") {
  const std::string body = kOwn + "and.b32 %r4, %t, 3;\nsetp.eq.u32 %p1, %r4, 1;\n" +
                           call("3", "@%p1") + call("7", "@!%p1") + store_word("%r2");
  CHECK_WORDS(each(40, [](std::uint32_t t) { return t * ((t & 3) == 1 ? 3 : 7); }),
              run(kScale, body));
}

TEST("calls in both ways of a branch meet behind it") {
  const std::string body = kOwn + "setp.lt.u32 %p1, %t, 9;\n@%p1 bra LOW;\n" + call("3") +
                           "bra MEET;\nLOW:\n" + call("4") + "MEET:\nadd.u32 %r2, %r2, 1;\n" +
                           store_word("%r2");
  CHECK_WORDS(each(40, [](std::uint32_t t) { return t * (t < 9 ? 4 : 3) + 1; }), run(kScale, body));
}

TEST("call sequences that share words do not see each other's arguments") {
  const std::string body = kOwn + call("3") + "mov.u32 %r1, %r2;\n" + call("%t") +
                           "mov.u32 %r1, %r2;\n" + call("2") + store_word("%r2");
  CHECK_WORDS(each(40, [](std::uint32_t t) { return t * 3 * t * 2; }), run(kScale, body));
}

TEST("a call through a pointer of another type is a fault that names the function") {
  const std::string body = kOwn + "mov.u64 %rd1, one;\n" + prototype("proto") +
                           call("3", "", "%rd1", ", proto") + store_word("%r2");
  Kernel kernel(1, ".loc 1 5 1\n" + body, kScale + ".func one(.param .b32 x)\n{\nret;\n}\n");
  kernel.buffer("y", Words(40));
  const FaultDetail fault = kernel.fault(40);
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK(fault.message.find("calls 'one' through a pointer to another type of function") !=
        std::string::npos);
  CHECK_EQUAL(5, fault.at->line);
}

TEST("a guarded call through pointers leaves the other lanes as they are") {
  const std::string body =
      kOwn +
      "mov.u64 %rd1, scale;\nmov.u64 %rd2, plus;\nand.b32 %r4, %t, 1;\nsetp.eq.u32 %p2, %r4, 0;\n"
      "selp.b64 %rd3, %rd1, %rd2, %p2;\nsetp.lt.u32 %p1, %t, 30;\n" +
      prototype("proto") + call("9", "@%p1", "%rd3", ", proto") + store_word("%r2");
  const std::string plus =
      ".func (.param .b32 out) plus(.param .b32 x, .param .b32 by)\n{\n.reg .b32 %r<9>;\n"
      "ld.param.u32 %r1, [x];\nld.param.u32 %r2, [by];\nadd.u32 %r3, %r1, %r2;\n"
      "st.param.b32 [out], %r3;\n}\n";
  CHECK_WORDS(each(40,
                   [](std::uint32_t t) {
                     if (t >= 30) return 5u;
                     return t % 2 == 0 ? t * 9 : t + 9;
                   }),
              run(kScale + plus, body));
}

TEST("parameters of a few bytes and vectors of them lie where memory would have them") {
  const std::string function =
      ".func (.param .align 8 .b8 out[16]) mix(.param .align 8 .b8 in[16])\n{\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<9>;\n.reg .b16 %h<9>;\nld.param.s8 %r1, [in+3];\nld.param.u16 %r2, [in+6];\n"
      "ld.param.v4.u8 {%h1, %h2, %h3, %h4}, [in];\nld.param.b64 %rd1, [in+8];\n"
      "cvt.u32.u16 %r3, %h2;\nst.param.b32 [out], %r1;\nst.param.v2.b16 [out+4], {%h3, %h4};\n"
      "st.param.b8 [out+8], %r3;\nst.param.b8 [out+9], 7;\nst.param.u16 [out+10], %r2;\n"
      "cvt.u32.u64 %r4, %rd1;\nst.param.b32 [out+12], %r4;\nret;\n}\n";
  const std::string body =
      "{\n.param .align 8 .b8 p[16];\nst.param.b32 [p], 0x80402010;\nst.param.b32 [p+4], "
      "0xabcd0000;\nmov.u64 %rd1, 0x1122334455667788;\nst.param.b64 [p+8], %rd1;\n"
      ".param .align 8 .b8 back[16];\ncall (back), mix, (p);\n"
      "ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [back];\n}\n"
      "st.global.v4.b32 [%x0], {%r1, %r2, %r3, %r4};";
  Kernel kernel(1, body, function);
  kernel.buffer("y", Words(4));
  kernel.run(1);
  CHECK_WORDS((Words{0xffffff80, 0x00800040, 0xabcd0720, 0x55667788}), kernel.read("y"));
}

TEST("what a function leaves of its result undefined is zero, whatever ran before") {
  const std::string function =
      ".func (.param .b32 out) maybe(.param .b32 x, .param .b32 by)\n{\n.reg .b32 %r<9>;\n"
      ".reg .pred %p<3>;\nld.param.u32 %r1, [x];\nsetp.gt.u32 %p1, %r1, 20;\n@%p1 ret;\n"
      "st.param.b32 [out], %r1;\nret;\n}\n";
  const std::string body = kOwn + call("3", "", "maybe") + store_word("%r2");
  CHECK_WORDS(each(40, [](std::uint32_t t) { return t > 20 ? 0 : t; }), run(function, body));
}

TEST("a barrier in a function that lanes call from two places is divergent") {
  const std::string function =
      ".func (.param .b32 out) wait(.param .b32 x, .param .b32 by)\n{\n.loc 1 50 1\nbar.sync 0;\n"
      "ret;\n}\n";
  const std::string body = kOwn + "setp.lt.u32 %p1, %t, 9;\n@%p1 bra LOW;\n.loc 1 60 1\n" +
                           call("3", "", "wait") + "bra MEET;\nLOW:\n.loc 1 61 1\n" +
                           call("4", "", "wait") + "MEET:\n" + store_word("%r2");
  Kernel kernel(1, body, function);
  kernel.buffer("y", Words(32));
  const FaultDetail fault = kernel.fault(32);
  CHECK(FaultKind::barrier_divergence == fault.kind);
  CHECK_EQUAL(50, fault.at->line);
}

TEST("lanes that meet at a barrier in a function return to their own call together") {
  const std::string function =
      ".func (.param .b32 out) late(.param .b32 x, .param .b32 by)\n{\n.reg .b32 %r<9>;\n"
      ".reg .pred %p<3>;\nld.param.u32 %r1, [x];\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra SKIP;\n"
      "add.u32 %r1, %r1, 100;\nSKIP:\nbar.sync 0;\nst.param.b32 [out], %r1;\nret;\n}\n";
  const std::string body = kOwn + call("3", "", "late") + "add.u32 %r2, %r2, %t;\n" +
                           call("3", "", "late") + "add.u32 %r2, %r2, %t;\n" + store_word("%r2");
  CHECK_WORDS(each(64, [](std::uint32_t t) { return t < 5 ? 2 * t : 2 * t + 100; }),
              run(function, body, 64));
}

TEST("brx.idx takes every lane to its own label, and they meet behind the table") {
  const std::string body =
      "and.b32 %r1, %t, 3;\nmov.u32 %r2, 1000;\nsetp.ne.u32 %p1, %t, 7;\n"
      "targets: .branchtargets ZERO, ONE, MEET, ONE;\n@%p1 brx.idx %r1, targets;\n"
      "mov.u32 %r2, 7;\nbra MEET;\nZERO:\nmov.u32 %r2, 0;\nbra MEET;\nONE:\n"
      "add.u32 %r2, %r2, 1;\nMEET:\nadd.u32 %r2, %r2, 1;\n" +
      store_word("%r2");
  CHECK_WORDS(each(40,
                   [](std::uint32_t t) {
                     if (t == 7) return 8u;
                     const std::uint32_t ways[] = {1, 1002, 1001, 1002};
                     return ways[t & 3];
                   }),
              run("", body));
}

TEST("an index behind the table of brx.idx is a fault of its lane") {
  Kernel kernel(1, ".loc 1 9 1\ntargets: .branchtargets A, B;\nbrx.idx %t, targets;\nA:\nB:\n");
  kernel.buffer("y", Words(4));
  const FaultDetail fault = kernel.fault(32);
  CHECK(FaultKind::launch_error == fault.kind);
  CHECK_EQUAL(9, fault.at->line);
  CHECK_EQUAL(2u, fault.thread->x);
  CHECK(fault.message.find("branches to entry 2 of a table of 2") != std::string::npos);
}

TEST("alloca gives every lane what it asked for, until the stack is restored") {
  const std::string function =
      ".func (.param .b32 out) take(.param .b32 x, .param .b32 by)\n{\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<9>;\n.reg .pred %p<3>;\nld.param.u32 %r1, [x];\nstacksave.u64 %rd5;\n"
      "mad.lo.u32 %r2, %r1, 4, 4;\ncvt.u64.u32 %rd1, %r2;\nalloca.u64 %rd2, %rd1, 16;\n"
      "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd2, %rd3;\nst.local.u32 [%rd4], %r1;\n"
      "alloca.u64 %rd6, 8, 8;\nst.local.u32 [%rd6+4], 77;\nld.local.u32 %r3, [%rd4];\n"
      "stackrestore.u64 %rd5;\nst.param.b32 [out], %r3;\nret;\n}\n";
  const std::string body = kOwn + call("3", "", "take") + "mov.u32 %r1, %r2;\n" +
                           call("3", "", "take") + store_word("%r2");
  CHECK_WORDS(each(40, [](std::uint32_t t) { return t; }), run(function, body));
}

TEST("memory of alloca ends where it was told to, and the stack somewhere") {
  Kernel overrun(1,
                 ".loc 1 3 1\nmad.lo.u32 %r2, %t, 4, 4;\ncvt.u64.u32 %rd1, %r2;\n"
                 "alloca.u64 %rd2, %rd1, 4;\n.loc 1 4 1\nst.local.u32 [%rd2+12], %r2;\n");
  overrun.buffer("y", Words(4));
  const FaultDetail fault = overrun.fault(32);
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK_EQUAL(0u, fault.thread->x);
  CHECK_EQUAL(4, fault.at->line);
  Kernel endless(1, ".loc 1 3 1\nL:\nalloca.u64 %rd2, 1000, 4;\nbra L;\n");
  endless.buffer("y", Words(4));
  CHECK(endless.fault(32).message.find("overflows its stack: alloca of 1000 bytes") !=
        std::string::npos);
}

TEST("clocks count what the warp has executed and go on through its turns") {
  const std::string spin =
      "mov.u64 %rd1, %clock64;\nmov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, 1000;\n@%p1 bra L;\nmov.u64 %rd2, %clock64;\n"
      "sub.u64 %rd3, %rd2, %rd1;\ncvt.u32.u64 %r2, %rd3;\n" +
      store_word("%r2");
  // 3 * 1000 of the loop, the mov before it, the op where it ends and the second reading itself.
  CHECK_WORDS(Words(64, 4 * 3003), run("", spin, 64));
  const std::string again =
      "mov.u32 %r1, %clock;\nmov.u32 %r2, %clock;\nsub.u32 %r2, %r2, %r1;\n" + store_word("%r2");
  CHECK_WORDS(Words(40, 4), run("", again));
  const std::string timer =
      "mov.u64 %rd1, %globaltimer;\nmov.u64 %rd2, %globaltimer;\nsub.u64 %rd2, %rd2, %rd1;\n"
      "cvt.u32.u64 %r2, %rd2;\n" +
      store_word("%r2");
  CHECK_WORDS(Words(40, 2), run("", timer));
}

TEST("a function nobody defined is unsupported only when it is called") {
  const std::string declare =
      ".extern .func (.param .b32 out) far(.param .b32 x, .param .b32 by);\n";
  const std::string body = kOwn + "setp.gt.u32 %p1, %t, 100;\n@!%p1 bra END;\n.loc 1 8 1\n" +
                           call("3", "", "far") + "END:\n" + store_word("%r2");
  Kernel kernel(1, body, declare);
  kernel.buffer("y", Words(40));
  kernel.run(40);
  CHECK_EQUAL(1u, kernel.notes.size());
  CHECK(kernel.notes[0].find("far") != std::string::npos);
}
