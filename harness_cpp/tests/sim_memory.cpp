// Loads and stores of every width, space and pattern, and the faults of wrong ones.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// Loads element `tid` of `type` (`bytes` wide) and stores the 64-bit register it fills.
Words loaded_as(const std::string& type, std::uint32_t bytes, const std::string& reg,
                const std::string& store) {
  Kernel kernel(2, "mul.wide.u32 %rd1, %t, " + std::to_string(bytes) +
                       ";\nadd.s64 %rd2, %x0, %rd1;\nmul.wide.u32 %rd3, %t, 8;\nadd.s64 %rd4, %x1, "
                       "%rd3;\nmov.u64 %rd5, 0;\nst.global.u64 [%rd4], %rd5;\nld.global." +
                       type + " " + reg + ", [%rd2];\nst.global." + store + " [%rd4], " + reg +
                       ";");
  Words input(64);
  for (std::uint32_t i = 0; i < input.size(); ++i) input[i] = 0x807f01ffu * (i + 1) ^ i << 20;
  kernel.buffer("x", input, Access::read).buffer("y", Words(64));
  kernel.run(32);
  return kernel.read("y");
}

// Every byte at its place, for comparison.
std::vector<std::uint8_t> input_bytes() {
  Words input(64);
  for (std::uint32_t i = 0; i < input.size(); ++i) input[i] = 0x807f01ffu * (i + 1) ^ i << 20;
  return to_bytes(input);
}

template <class T, class Wide>
Words expected_as() {
  const std::vector<std::uint8_t> bytes = input_bytes();
  Words expected(64);
  for (std::size_t i = 0; i < 32; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    const Wide wide = static_cast<Wide>(value);
    std::memcpy(expected.data() + i * 2, &wide, sizeof wide);
  }
  return expected;
}

// Copies element f(tid) to element f(tid), f(i) = (a*i + c) % n, for lanes with (mask >> lane) & 1.
void check_copy(std::uint32_t a, std::uint32_t c, std::uint32_t mask) {
  Kernel kernel(2, "mad.lo.u32 %r1, %t, " + std::to_string(a) + ", " + std::to_string(c) +
                       ";\nand.b32 %r1, %r1, 1023;\nmov.u32 %r2, " + std::to_string(mask) +
                       ";\nshr.u32 %r3, %r2, %t;\nand.b32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, 1;\n"
                       "mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %x0, %rd1;\nadd.s64 %rd3, %x1, "
                       "%rd1;\n@%p1 ld.global.u32 %r4, [%rd2];\n@%p1 st.global.u32 [%rd3], %r4;");
  kernel.buffer("x", counting(1024, 7), Access::read).buffer("y", Words(1024));
  kernel.run(32);
  Words expected(1024);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t at = (i * a + c) % 1024;
    if ((mask >> i & 1u) != 0) expected[at] = at + 7;
  }
  CHECK_WORDS(expected, kernel.read("y"));
}

std::string shared_array(std::uint32_t words) {
  return ".shared .align 16 .b8 s[" + std::to_string(words * 4) + "];";
}

// Every thread stores to s[stride * tid]; the wavefronts that took.
std::uint64_t wavefronts_of_stride(std::uint32_t stride_bytes, const std::string& type = "u32",
                                   const std::string& value = "%t") {
  Kernel kernel(0,
                "mov.u32 %r1, s;\nmad.lo.u32 %r2, %t, " + std::to_string(stride_bytes) +
                    ", %r1;\nmov.u64 %rd1, 5;\nst.shared." + type + " [%r2], " + value + ";",
                shared_array(32 * 64));
  return kernel.run(32).shared_wavefronts;
}

FaultDetail fault_of_load(const std::string& address, const std::string& type = "u32") {
  Kernel kernel(1, address + "\nld.global." + type + " %r9, [%rd1];\n" + store_word("%r9"));
  kernel.buffer("x", counting(100));
  return kernel.fault(32, 2);
}

}  // namespace

TEST("a narrow load is extended to the width of its register") {
  CHECK_WORDS((expected_as<std::uint8_t, std::uint32_t>()), loaded_as("u8", 1, "%r1", "u32"));
  CHECK_WORDS((expected_as<std::int8_t, std::int32_t>()), loaded_as("s8", 1, "%r1", "u32"));
  CHECK_WORDS((expected_as<std::int8_t, std::int16_t>()), loaded_as("s8", 1, "%h1", "u16"));
  CHECK_WORDS((expected_as<std::int16_t, std::int32_t>()), loaded_as("s16", 2, "%r1", "u32"));
  CHECK_WORDS((expected_as<std::uint16_t, std::uint32_t>()), loaded_as("u16", 2, "%r1", "u32"));
  CHECK_WORDS((expected_as<std::uint16_t, std::uint64_t>()), loaded_as("b16", 2, "%rd9", "u64"));
  CHECK_WORDS((expected_as<std::int8_t, std::int64_t>()), loaded_as("s8", 1, "%rd9", "u64"));
  CHECK_WORDS((expected_as<std::int16_t, std::int64_t>()), loaded_as("s16", 2, "%rd9", "u64"));
  CHECK_WORDS((expected_as<std::int32_t, std::int64_t>()), loaded_as("s32", 4, "%rd9", "u64"));
  CHECK_WORDS((expected_as<std::uint32_t, std::uint64_t>()), loaded_as("u32", 4, "%rd9", "u64"));
  CHECK_WORDS((expected_as<std::uint64_t, std::uint64_t>()), loaded_as("b64", 8, "%rd9", "u64"));
}

TEST("a store of a narrow type takes the low bits of a wide register") {
  Kernel kernel(1,
                "cvt.u64.u32 %rd1, %t;\nmul.wide.u32 %rd2, %t, 4;\nadd.s64 %rd3, %x0, %rd2;\n"
                "mov.u64 %rd4, 0x1122334455667788;\nadd.u64 %rd4, %rd4, %rd1;\n"
                "st.global.u16 [%rd3], %rd4;\nst.global.u8 [%rd3+3], %rd4;");
  kernel.buffer("y", Words(32));
  kernel.run(32);
  Words expected;
  for (std::uint32_t i = 0; i < 32; ++i) {
    expected.push_back((0x7788 + i) | ((0x88 + i) & 0xff) << 24);
  }
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("lanes copy through any pattern of addresses and any mask") {
  for (const std::uint32_t a : {0u, 1u, 2u, 3u, 31u, 32u, 33u, 1023u}) {
    for (const std::uint32_t c : {0u, 5u, 900u}) {
      for (const std::uint32_t mask : {0xffffffffu, 1u, 0x80000000u, 0x0f0ff000u}) {
        check_copy(a, c, mask);
      }
    }
  }
}

TEST("a guarded load leaves the registers of other lanes as they are") {
  for (const std::uint32_t stride : {0u, 4u, 12u}) {
    for (const char* type : {"u32", "u8"}) {
      Kernel kernel(2, "mul.lo.u32 %r1, %t, " + std::to_string(stride) +
                           ";\ncvt.u64.u32 %rd1, %r1;\nadd.s64 %rd2, %x1, %rd1;\n"
                           "add.u32 %r2, %t, 500;\nand.b32 %r3, %t, 3;\nsetp.eq.u32 %p1, %r3, 1;\n"
                           "@%p1 ld.global." +
                           type + " %r2, [%rd2];\n" + store_word("%r2"));
      kernel.buffer("y", Words(32)).buffer("x", counting(128, 7), Access::read);
      kernel.run(32);
      Words expected;
      for (std::uint32_t t = 0; t < 32; ++t) {
        expected.push_back(t % 4 == 1 ? t * stride / 4 + 7 : t + 500);
      }
      CHECK_WORDS(expected, kernel.read("y"));
    }
  }
}

TEST("vectors of two and four elements keep their order in every space") {
  Kernel kernel(2,
                "mul.wide.u32 %rd1, %t, 16;\nadd.s64 %rd2, %x0, %rd1;\nadd.s64 %rd3, %x1, %rd1;\n"
                "mov.u32 %r1, s;\nmad.lo.u32 %r2, %t, 16, %r1;\n"
                "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd2];\n"
                "st.shared.v4.u32 [%r2], {%r6, %r5, %r4, %r3};\n"
                "ld.shared.v2.u64 {%rd4, %rd5}, [%r2];\n"
                "st.global.v2.u64 [%rd3], {%rd5, %rd4};",
                shared_array(128));
  kernel.buffer("x", counting(128), Access::read).buffer("y", Words(128));
  kernel.run(32);
  Words expected;
  for (std::uint32_t i = 0; i < 32; ++i) {
    for (const std::uint32_t k : {1u, 0u, 3u, 2u}) expected.push_back(4 * i + k);
  }
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("vectors of bytes and halves spread over registers") {
  Kernel kernel(2,
                "mul.wide.u32 %rd1, %t, 4;\nadd.s64 %rd2, %x0, %rd1;\nadd.s64 %rd3, %x1, %rd1;\n"
                "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd2];\n"
                "st.global.v4.u8 [%rd3], {%h4, %h3, %h2, %h1};\n"
                "ld.global.v2.u16 {%h5, %h6}, [%rd3];\nst.global.v2.u16 [%rd3], {%h6, %h5};");
  kernel.buffer("x", counting(32, 0x03020100), Access::read).buffer("y", Words(32));
  kernel.run(32);
  Words expected;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t v = 0x03020100 + i;
    expected.push_back((v & 0xff) << 8 | (v >> 8 & 0xff) | (v >> 16 & 0xff) << 24 | v >> 24 << 16);
  }
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("a load may replace its own address register") {
  Kernel kernel(1,
                "mul.wide.u32 %rd1, %t, 8;\nadd.s64 %rd1, %x0, %rd1;\nld.global.u64 %rd1, [%rd1];\n"
                "cvt.u32.u64 %r1, %rd1;\n" +
                    store_word("%r1"));
  Words input = counting(64);
  kernel.buffer("x", input);
  kernel.run(16);
  Words expected = input;
  for (std::uint32_t i = 0; i < 16; ++i) expected[i] = 2 * i;
  CHECK_WORDS(expected, kernel.read("x"));
}

TEST("warps with different patterns at one instruction do not take each other's") {
  // Warp 0 walks words, warp 1 every second word; a turn ends between the two loads of one base.
  std::string body =
      "shr.u32 %r1, %t, 5;\nadd.u32 %r2, %r1, 1;\nand.b32 %r3, %t, 31;\nmul.lo.u32 %r4, %r3, %r2;\n"
      "mad.lo.u32 %r4, %r1, 100, %r4;\nmul.wide.u32 %rd1, %r4, 4;\nadd.s64 %rd2, %x1, %rd1;\n"
      "mov.u32 %r9, 0;\nmov.u32 %r10, 0;\nLOOP:\n";
  for (int k = 0; k < 7; ++k) {
    body += "ld.global.u32 %r5, [%rd2+" + std::to_string(4 * k) + "];\nadd.u32 %r9, %r9, %r5;\n";
  }
  body +=
      "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, 200;\n@%p1 bra LOOP;\n" + store_word("%r9");
  Kernel kernel(2, body);
  kernel.buffer("y", Words(64)).buffer("x", counting(256), Access::read);
  kernel.run(64);
  Words expected;
  for (std::uint32_t t = 0; t < 64; ++t) {
    const std::uint32_t warp = t / 32, first = warp * 100 + t % 32 * (warp + 1);
    expected.push_back(200 * (7 * first + 21));
  }
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("local memory belongs to one thread, also through generic addresses") {
  Kernel kernel(1,
                ".local .align 8 .b8 depot[16];\nmov.u64 %rd1, depot;\ncvta.local.u64 %rd2, %rd1;\n"
                "st.local.u32 [%rd1+4], %t;\nld.u32 %r1, [%rd2+4];\nadd.u32 %r1, %r1, 1;\n"
                "st.u32 [%rd2+8], %r1;\nld.local.u32 %r2, [%rd1+8];\n" +
                    store_word("%r2"));
  kernel.buffer("y", Words(64));
  const Counters counters = kernel.run(64);
  CHECK_WORDS(counting(64, 1), kernel.read("y"));
  CHECK_EQUAL(8u, counters.local_requests);
}

TEST("constants and globals of the module start with their initial values") {
  Kernel kernel(1,
                "mul.wide.u32 %rd1, %t, 4;\nmov.u64 %rd2, c;\nadd.s64 %rd3, %rd2, %rd1;\n"
                "ld.const.u32 %r1, [%rd3];\nld.const.u32 %r2, [c+4];\n"
                "mov.u64 %rd4, g;\nadd.s64 %rd5, %rd4, %rd1;\nld.global.u32 %r3, [%rd5];\n"
                "ld.global.u64 %rd6, [pointer];\nld.global.u32 %r4, [%rd6];\n"
                "add.u32 %r5, %r1, %r2;\nadd.u32 %r5, %r5, %r3;\nadd.u32 %r5, %r5, %r4;\n" +
                    store_word("%r5"),
                ".const .align 4 .u32 c[4] = {1, 2, 3, 4};\n"
                ".global .align 4 .u32 g[4] = {10, 20, 30, 40};\n"
                ".global .align 8 .u64 pointer = g+8;");
  kernel.buffer("y", Words(4));
  kernel.run(4);
  CHECK_WORDS((Words{43, 54, 65, 76}), kernel.read("y"));
}

TEST("loading a module again resets its globals") {
  const std::string module = Kernel::module_text(
      1,
      "ld.global.u32 %r1, [g];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [g], %r2;\n" +
          store_word("%r1"),
      ".global .align 4 .u32 g = 5;");
  Kernel kernel(module);
  kernel.buffer("y", Words(1));
  kernel.run(1);
  kernel.run(1);
  CHECK_WORDS((Words{6}), kernel.read("y"));
  CompiledModule compiled;
  compiled.name = "m";
  compiled.ptx = module;
  kernel.device().load(compiled);
  kernel.run(1);
  CHECK_WORDS((Words{5}), kernel.read("y"));
}

TEST("generic addresses reach shared and global memory and tell their space") {
  Kernel kernel(
      1,
      "mov.u32 %r1, s;\nmad.lo.u32 %r2, %t, 4, %r1;\nst.shared.u32 [%r2], %t;\n"
      "cvt.u64.u32 %rd1, %r2;\ncvta.shared.u64 %rd2, %rd1;\nld.u32 %r3, [%rd2];\n"
      "isspacep.shared %p1, %rd2;\nisspacep.global %p2, %rd2;\nisspacep.global %p3, %x0;\n"
      "selp.u32 %r4, 100, 0, %p1;\nselp.u32 %r5, 1000, 0, %p2;\nselp.u32 %r6, 10000, 0, %p3;\n"
      "add.u32 %r7, %r3, %r4;\nadd.u32 %r7, %r7, %r5;\nadd.u32 %r7, %r7, %r6;\n"
      "mul.wide.u32 %rd3, %t, 4;\nadd.s64 %rd4, %x0, %rd3;\nst.u32 [%rd4], %r7;",
      shared_array(32));
  kernel.buffer("y", Words(32));
  kernel.run(32);
  CHECK_WORDS(counting(32, 10100), kernel.read("y"));
}

TEST("unwritten shared memory reads as NaN, whatever ran there before") {
  Kernel kernel(1,
                "mov.u32 %r1, s;\nmad.lo.u32 %r2, %t, 4, %r1;\nld.shared.u32 %r3, [%r2];\n"
                "st.shared.u32 [%r2], %t;\n" +
                    store_word("%r3"),
                shared_array(32));
  kernel.buffer("y", Words(32));
  kernel.run(32, 3);
  CHECK_WORDS(Words(32, 0xffffffffu), kernel.read("y"));
}

TEST("dynamic shared memory follows the static arrays") {
  Kernel kernel(
      1,
      "mov.u32 %r1, d;\nmov.u32 %r2, s;\nsub.u32 %r3, %r1, %r2;\n"
      "mad.lo.u32 %r4, %t, 4, %r1;\nst.shared.u32 [%r4], %r3;\nld.shared.u32 %r5, [%r4];\n" +
          store_word("%r5"),
      ".shared .align 4 .b8 s[20];\n.extern .shared .align 16 .b8 d[];");
  kernel.buffer("y", Words(4));
  kernel.run(4, 1, 16);
  CHECK_WORDS(Words(4, 32), kernel.read("y"));
  CHECK(FaultKind::illegal_address == kernel.fault(5, 1, 16).kind);
}

TEST("a read past the end names buffer, element, thread and instruction") {
  const FaultDetail fault = fault_of_load(
      "mad.lo.u32 %r1, %b, 72, %t;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %x0, %rd1;\n"
      ".loc 1 14 3");
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK_EQUAL(std::string("x"), fault.buffer);
  CHECK_EQUAL(100, *fault.element);
  CHECK_EQUAL(100u, *fault.elements);
  CHECK_EQUAL(4u, *fault.bytes);
  CHECK_EQUAL(std::string("read"), fault.access);
  CHECK_EQUAL(std::string("global"), fault.space);
  CHECK_EQUAL(1u, fault.block->x);
  CHECK_EQUAL(28u, fault.thread->x);
  CHECK_EQUAL(14, fault.at->line);
  CHECK_EQUAL(std::string("k.cu"), fault.at->file);
  CHECK_EQUAL(std::string("ld.global.u32 %r9, [%rd1]"), fault.instruction);
  CHECK_EQUAL(std::string("kernel 'k' reads x[100] (4 bytes), but 'x' has 100 elements of 4 bytes, "
                          "at k.cu:14, block (1,0,0), thread (28,0,0)"),
              fault.message);
}

TEST("an access before the start has a negative element") {
  const FaultDetail fault = fault_of_load("mul.wide.u32 %rd1, %t, 4;\nsub.s64 %rd1, %x0, %rd1;");
  CHECK_EQUAL(-1, *fault.element);
  CHECK_EQUAL(1u, fault.thread->x);
}

TEST("an index that overflowed still names its buffer") {
  const FaultDetail fault = fault_of_load(
      "mov.u32 %r1, 0x7fffffff;\nadd.s32 %r1, %r1, 1;\nmul.wide.s32 %rd1, %r1, 4;\n"
      "add.s64 %rd1, %x0, %rd1;");
  CHECK_EQUAL(std::string("x"), fault.buffer);
  CHECK_EQUAL(-2147483648ll, static_cast<long long>(*fault.element));
}

TEST("a null pointer belongs to no buffer") {
  const FaultDetail fault = fault_of_load("mul.wide.u32 %rd1, %t, 4;");
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK_EQUAL(std::string(""), fault.buffer);
  CHECK(fault.message.find("null") != std::string::npos);
}

TEST("a misaligned access is a fault, and a vector must be aligned as a whole") {
  const FaultDetail word = fault_of_load("add.s64 %rd1, %x0, 2;");
  CHECK(FaultKind::misaligned == word.kind);
  CHECK_EQUAL(0, *word.element);
  Kernel kernel(1, "add.s64 %rd1, %x0, 8;\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];");
  kernel.buffer("x", counting(100));
  CHECK(FaultKind::misaligned == kernel.fault(32).kind);
}

TEST("only the lanes that access are checked") {
  Kernel kernel(
      1,
      "mul.wide.u32 %rd1, %t, 4;\nadd.s64 %rd1, %x0, %rd1;\nsetp.lt.u32 %p1, %t, 10;\n"
      "@%p1 ld.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, 1;\n@%p1 st.global.u32 [%rd1], %r1;");
  kernel.buffer("x", counting(10));
  kernel.run(32);
  CHECK_WORDS(counting(10, 1), kernel.read("x"));
}

TEST("a write to an input is a fault of its own kind") {
  Kernel kernel(1, store_word("%t"));
  kernel.buffer("x", counting(32), Access::read);
  const FaultDetail fault = kernel.fault(32);
  CHECK(FaultKind::write_to_input == fault.kind);
  CHECK_EQUAL(std::string("write"), fault.access);
  CHECK_WORDS(counting(32), kernel.read("x"));
}

TEST("an input may be written through an alias that is an output") {
  Kernel kernel(2, store_word("%t", "%x1"));
  kernel.buffer("x", Words(32, 9), Access::read);
  BufferSpec alias;
  alias.name = "y";
  alias.bytes = 128;
  alias.alias = "x";
  kernel.device().create_buffer(alias);
  kernel.argument("y");
  kernel.run(32);
  CHECK_WORDS(counting(32), kernel.read("x"));
}

TEST("an empty buffer has an address through which nothing can be accessed") {
  Kernel kernel(1, "ld.global.u32 %r1, [%x0];");
  kernel.buffer("empty", Words());
  const FaultDetail fault = kernel.fault(1);
  CHECK_EQUAL(std::string("empty"), fault.buffer);
  CHECK_EQUAL(0u, *fault.elements);
}

TEST("shared memory ends where its arrays end") {
  Kernel kernel(0, "mov.u32 %r1, s;\nmad.lo.u32 %r2, %t, 4, %r1;\nst.shared.u32 [%r2], %t;",
                shared_array(20));
  const FaultDetail fault = kernel.fault(32);
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK_EQUAL(std::string("shared"), fault.space);
  CHECK_EQUAL(std::string("s"), fault.buffer);
  CHECK_EQUAL(20u, fault.thread->x);
}

TEST("constant memory cannot be written, nor read past its end") {
  Kernel write(0, "mov.u64 %rd1, c;\ncvta.const.u64 %rd2, %rd1;\nst.u32 [%rd2], %t;",
               ".const .align 4 .u32 c[4] = {1, 2, 3, 4};");
  CHECK_EQUAL(std::string("const"), write.fault(1).space);
  Kernel read(0, "ld.const.u32 %r1, [c+16];", ".const .align 4 .u32 c[4] = {1, 2, 3, 4};");
  CHECK(FaultKind::illegal_address == read.fault(1).kind);
}

TEST("one access may touch two buffers") {
  Kernel kernel(
      3,
      "setp.lt.u32 %p1, %t, 16;\nselp.b64 %rd1, %x1, %x2, %p1;\nmul.wide.u32 %rd2, %t, 4;\n"
      "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r1, [%rd3];\n" +
          store_word("%r1"));
  kernel.buffer("y", Words(32)).buffer("a", counting(32)).buffer("b", counting(32, 1000));
  kernel.run(32);
  Words expected = counting(32);
  for (std::uint32_t i = 16; i < 32; ++i) expected[i] = 1000 + i;
  CHECK_WORDS(expected, kernel.read("y"));
}

TEST("global requests are counted in sectors of 32 bytes") {
  for (const auto& [stride, sectors] :
       {std::pair(0u, 1u), {1u, 4u}, {2u, 8u}, {4u, 16u}, {8u, 32u}, {9u, 32u}}) {
    Kernel kernel(1, "mul.lo.u32 %r1, %t, " + std::to_string(stride) +
                         ";\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %x0, %rd1;\n"
                         "ld.global.u32 %r2, [%rd1];");
    kernel.buffer("x", Words(64 * 9));
    const Counters counters = kernel.run(64, 3);
    CHECK_EQUAL(6u, counters.global_load_requests);
    // The second warp of a block starts elsewhere, which matters only for stride 9.
    CHECK_EQUAL(6u * sectors, counters.global_load_sectors);
  }
}

TEST("shared requests are counted in wavefronts of bank conflicts") {
  CHECK_EQUAL(1u, wavefronts_of_stride(0));
  CHECK_EQUAL(1u, wavefronts_of_stride(4));
  CHECK_EQUAL(2u, wavefronts_of_stride(8));
  CHECK_EQUAL(32u, wavefronts_of_stride(128));
  CHECK_EQUAL(1u, wavefronts_of_stride(132));
  CHECK_EQUAL(1u, wavefronts_of_stride(1, "u8"));
  CHECK_EQUAL(2u, wavefronts_of_stride(8, "u64", "%rd1"));
  CHECK_EQUAL(4u, wavefronts_of_stride(16, "v4.u32", "{%t, %t, %t, %t}"));
}
