// The float64 shadow through the simulated device: what each kind of instruction makes of it.
#include <cmath>

#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

constexpr int kNone = ShadowValues::none, kExact = ShadowValues::exact,
              kReseeded = ShadowValues::reseeded, kUndecided = ShadowValues::undecided;

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

Words floats(std::uint32_t count, float first, float step) {
  Words words;
  for (std::uint32_t i = 0; i < count; ++i)
    words.push_back(bits_of(first + static_cast<float>(i) * step));
  return words;
}

double value_at(const Words& words, std::size_t i) {
  float value;
  std::memcpy(&value, &words[i], sizeof value);
  return value;
}

// A kernel over x and y whose body finds x[thread] in %f1, and the addresses of x[thread] and
// y[thread] in %rd1 and %rd2.
class ShadowedKernel {
 public:
  ShadowedKernel(const std::string& body, const Words& x, Words y = Words(32),
                 const std::string& variables = "")
      : m_kernel(2,
                 "mul.wide.u32 %rd3, %t, 4;\nadd.s64 %rd1, %x0, %rd3;\nadd.s64 %rd2, %x1, %rd3;\n"
                 "ld.global.f32 %f1, [%rd1];\n" +
                     body,
                 variables) {
    m_kernel.buffer("x", x, Access::read).buffer("y", y);
  }

  ShadowedKernel& run(std::uint32_t threads = 32) {
    LaunchSpec spec = m_kernel.spec(threads, 1);
    spec.checks.rounding = true;
    report = m_kernel.device().launch(spec);
    shadow = m_kernel.device().read_shadow("y", "f32");
    y = m_kernel.read("y");
    return *this;
  }

  [[nodiscard]] Kernel& kernel() { return m_kernel; }

  LaunchReport report;
  ShadowValues shadow;
  Words y;

 private:
  Kernel m_kernel;
};

const Words kInputs = floats(32, 0.1f, 0.37f);

}  // namespace

TEST("a sum is computed in float64 and not rounded") {
  ShadowedKernel kernel("add.f32 %f2, %f1, 0f3DCCCCCD;\nst.global.f32 [%rd2], %f2;\n", kInputs);
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQUAL(value_at(kInputs, i) + double{0.1f}, kernel.shadow.values[i]);
    CHECK_EQUAL(kExact, int{kernel.shadow.states[i]});
  }
}

TEST("an untouched element has no shadow") {
  ShadowedKernel kernel(
      "setp.lt.u32 %p1, %t, 16;\nadd.f32 %f2, %f1, %f1;\n@%p1 st.global.f32 [%rd2], %f2;\n",
      kInputs);
  kernel.run();
  CHECK_EQUAL(kExact, int{kernel.shadow.states[15]});
  CHECK_EQUAL(kNone, int{kernel.shadow.states[16]});
}

TEST("bits that somebody else wrote have no shadow") {
  ShadowedKernel kernel("mul.f32 %f2, %f1, %f1;\nst.global.f32 [%rd2], %f2;\n", kInputs);
  kernel.run();
  kernel.kernel().device().write("y", to_bytes(floats(32, 7, 1)));
  const ShadowValues stale = kernel.kernel().device().read_shadow("y", "f32");
  CHECK_EQUAL(kNone, int{stale.states[3]});
}

TEST("what lanes shuffle from different places is undecided, its value right") {
  ShadowedKernel kernel(
      "mul.f32 %f2, %f1, 0f3DCCCCCD;\nmov.b32 %r3, %f2;\nsetp.lt.u32 %p1, %t, 16;\n@%p1 bra LOW;\n"
      "shfl.sync.bfly.b32 %r4, %r3, 16, 31, 0xffffffff;\nbra MEET;\n"
      "LOW:\nshfl.sync.bfly.b32 %r4, %r3, 16, 31, 0xffffffff;\n"
      "MEET:\nmov.b32 %f3, %r4;\nst.global.f32 [%rd2], %f3;\n",
      kInputs);
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQUAL(static_cast<float>(value_at(kInputs, i ^ 16u)) * 0.1f,
                static_cast<float>(value_at(kernel.y, i)));
    CHECK_EQUAL(kUndecided, int{kernel.shadow.states[i]} & kUndecided);
  }
}

TEST("other shuffles of other lanes are no part of one shuffle, shadow or not") {
  ShadowedKernel kernel(
      "mov.b32 %r3, %f1;\nsetp.lt.u32 %p1, %t, 16;\n@%p1 bra LOW;\n"
      "shfl.sync.bfly.b32 %r4, %r3, 16, 31, 0xffffffff;\nbra MEET;\n"
      "LOW:\nshfl.sync.down.b32 %r4, %r3, 16, 31, 0xffffffff;\n"
      "MEET:\nmov.b32 %f3, %r4;\nst.global.f32 [%rd2], %f3;\n",
      kInputs);
  CHECK_THROWS(Fault, kernel.run());
}

TEST("a shadow goes through shared memory shuffles and packing") {
  ShadowedKernel kernel(
      "mul.f32 %f2, %f1, 0f3DCCCCCD;\nmul.lo.u32 %r1, %t, 4;\nmov.u32 %r2, tile;\n"
      "add.u32 %r1, %r1, %r2;\nst.shared.f32 [%r1], %f2;\nbar.sync 0;\nld.shared.b32 %r3, [%r1];\n"
      "shfl.sync.bfly.b32 %r4, %r3, 1, 31, 0xffffffff;\nmov.b64 %rd5, {%r4, %r3};\n"
      "mov.b64 {%r5, %r6}, %rd5;\nmov.b32 %f3, %r5;\nmov.b32 %f4, %r6;\nsub.f32 %f5, %f3, %f4;\n"
      "st.global.f32 [%rd2], %f5;\n",
      kInputs, Words(32), ".shared .align 4 .b8 tile[128];\n");
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    const double own = value_at(kInputs, i) * double{0.1f},
                 other = value_at(kInputs, i ^ 1u) * double{0.1f};
    CHECK_EQUAL(other - own, kernel.shadow.values[i]);
    CHECK_EQUAL(kExact, int{kernel.shadow.states[i]});
  }
}

TEST("rounding down on purpose begins anew from the value") {
  ShadowedKernel kernel("mul.rm.f32 %f2, %f1, 0f3DCCCCCD;\nst.global.f32 [%rd2], %f2;\n", kInputs);
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQUAL(value_at(kernel.y, i), kernel.shadow.values[i]);
    CHECK_EQUAL(kReseeded, int{kernel.shadow.states[i]});
  }
}

TEST("adding one and a half times two to the 23 rounds on purpose") {
  ShadowedKernel kernel(
      "fma.rn.f32 %f2, %f1, 0f40133333, 0f4B400000;\nadd.f32 %f3, %f2, 0fCB400000;\n"
      "st.global.f32 [%rd2], %f3;\n",
      kInputs);
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQUAL(std::rint(value_at(kInputs, i) * double{2.3f}), kernel.shadow.values[i]);
    CHECK_EQUAL(kReseeded, int{kernel.shadow.states[i]});
  }
}

TEST("an ordinary sum of large numbers is not taken for the trick") {
  ShadowedKernel kernel(
      "add.f32 %f2, %f1, 0f4B189680;\nadd.f32 %f3, %f2, 0fCB189680;\nst.global.f32 [%rd2], %f3;\n",
      kInputs);
  kernel.run();
  CHECK_EQUAL(kExact, int{kernel.shadow.states[5]});
  CHECK(std::fabs(kernel.shadow.values[5] - value_at(kInputs, 5)) < 1e-8);
}

TEST("bits made from bits begin anew") {
  ShadowedKernel kernel(
      "mul.f32 %f2, %f1, 0f3DCCCCCD;\nmov.b32 %r1, %f2;\nadd.s32 %r1, %r1, 8388608;\n"
      "mov.b32 %f3, %r1;\nst.global.f32 [%rd2], %f3;\n",
      kInputs);
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQUAL(value_at(kernel.y, i), kernel.shadow.values[i]);
    CHECK_EQUAL(kReseeded, int{kernel.shadow.states[i]});
  }
}

TEST("logic that touches only the sign keeps the shadow") {
  ShadowedKernel kernel(
      "sub.f32 %f2, %f1, 0f40A00000;\nmov.b32 %r1, %f2;\nand.b32 %r2, %r1, 0x7fffffff;\n"
      "and.b32 %r3, %r1, 0x80000000;\nmov.b32 %f3, %r2;\nmul.f32 %f4, %f3, 0f3DCCCCCD;\n"
      "mov.b32 %r4, %f4;\nor.b32 %r5, %r4, %r3;\nxor.b32 %r6, %r5, 0x80000000;\n"
      "mov.b32 %f5, %r6;\nst.global.f32 [%rd2], %f5;\n",
      kInputs);
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_EQUAL(-((value_at(kInputs, i) - 5.0) * double{0.1f}), kernel.shadow.values[i]);
  }
}

TEST("a comparison that goes otherwise in float64 leaves its choice undecided") {
  const std::string body =
      "add.f32 %f2, %f1, 0f3F800000;\nsetp.gt.f32 %p1, %f2, 0f3F800000;\n"
      "selp.f32 %f3, 0f40000000, %f1, %p1;\nst.global.f32 [%rd2], %f3;\n";
  ShadowedKernel close(body, floats(32, 1e-9f, 0));
  CHECK_EQUAL(kUndecided, int{close.run().shadow.states[0]});
  ShadowedKernel apart(body, floats(32, 1e-3f, 0));
  CHECK_EQUAL(kExact, int{apart.run().shadow.states[0]});
}

TEST("a lane that branches otherwise than float64 would is undecided from there on") {
  ShadowedKernel kernel(
      "add.f32 %f2, %f1, 0f3F800000;\nsetp.gt.f32 %p1, %f2, 0f3F800000;\n@%p1 bra above;\n"
      "mov.f32 %f3, 0f40000000;\nbra.uni done;\nabove:\nmov.f32 %f3, 0f40400000;\ndone:\n"
      "st.global.f32 [%rd2], %f3;\n",
      floats(32, 1e-9f, 1e-3f));
  kernel.run();
  CHECK_EQUAL(kUndecided, int{kernel.shadow.states[0]});
  CHECK_EQUAL(kExact, int{kernel.shadow.states[1]});
}

TEST("rounding to an integer is undecided only where float64 rounds otherwise") {
  const std::string body =
      "add.f32 %f2, %f1, 0f40000000;\ncvt.rmi.f32.f32 %f3, %f2;\nst.global.f32 [%rd2], %f3;\n";
  ShadowedKernel close(body, floats(32, -1e-9f, 0));
  CHECK_EQUAL(kUndecided, int{close.run().shadow.states[0]});
  ShadowedKernel apart(body, floats(32, 0.5f, 0));
  CHECK_EQUAL(kReseeded, int{apart.run().shadow.states[0]});
}

TEST("an extreme is that of the shadows and never undecided") {
  ShadowedKernel kernel(
      "add.f32 %f2, %f1, 0f3F800000;\nmax.f32 %f3, %f2, 0f3F800000;\nst.global.f32 [%rd2], %f3;\n",
      floats(32, 1e-9f, 0));
  kernel.run();
  CHECK_EQUAL(kExact, int{kernel.shadow.states[0]});
  CHECK_EQUAL(1.0 + value_at(floats(1, 1e-9f, 0), 0), kernel.shadow.values[0]);
}

TEST("atomic sums add in the shadow too") {
  ShadowedKernel kernel(
      "mul.f32 %f2, %f1, 0f3DCCCCCD;\natom.global.add.f32 %f3, [%x1], %f2;\n"
      "red.global.add.f32 [%x1+4], %f2;\n",
      kInputs);
  kernel.run();
  double sum = 0;
  for (std::size_t i = 0; i < 32; ++i) sum += value_at(kInputs, i) * double{0.1f};
  CHECK_EQUAL(sum, kernel.shadow.values[0]);
  CHECK_EQUAL(sum, kernel.shadow.values[1]);
}

TEST("cancellation is reported where it happens") {
  ShadowedKernel losing(
      "add.f32 %f2, %f1, 0f49742400;\nsub.f32 %f3, %f2, 0f49742400;\nst.global.f32 [%rd2], %f3;\n",
      kInputs);
  losing.run();
  CHECK(losing.report.rounding.has_value());
  CHECK_EQUAL(std::string("sub.f32 %f3, %f2, 0f49742400"),
              losing.report.rounding->where.instruction);
  CHECK(losing.report.rounding->mean_growth > 1e-4);
  ShadowedKernel harmless("mul.f32 %f2, %f1, %f1;\nst.global.f32 [%rd2], %f2;\n", kInputs);
  CHECK(!harmless.run().report.rounding.has_value());
}

TEST("the correction of a compensated sum loses no digits") {
  ShadowedKernel kernel(
      "add.f32 %f2, %f1, 0f49742400;\nsub.f32 %f3, %f2, %f1;\nsub.f32 %f4, %f3, 0f49742400;\n"
      "st.global.f32 [%rd2], %f4;\n",
      kInputs);
  CHECK(!kernel.run().report.rounding.has_value());
}

TEST("a kernel without floats has no shadow") {
  ShadowedKernel kernel("", kInputs);
  Kernel counting_kernel(1,
                         "mul.wide.u32 %rd1, %t, 4;\nadd.s64 %rd2, %x0, %rd1;\n"
                         "st.global.u32 [%rd2], %t;\n");
  counting_kernel.buffer("y", Words(32));
  LaunchSpec spec = counting_kernel.spec(32, 1);
  spec.checks.rounding = true;
  counting_kernel.device().launch(spec);
  CHECK_EQUAL(kNone, int{counting_kernel.device().read_shadow("y", "f32").states[0]});
}

TEST("values are those of a launch without shadow") {
  const std::string body =
      "sin.approx.f32 %f2, %f1;\nfma.rn.f32 %f3, %f2, %f1, 0f3DCCCCCD;\nst.global.f32 [%rd2], "
      "%f3;\n";
  ShadowedKernel watched(body, kInputs), plain(body, kInputs);
  watched.run();
  plain.kernel().run(32);
  CHECK(watched.y == plain.kernel().read("y"));
}

TEST("a dtype without shadow is refused") {
  ShadowedKernel kernel("", kInputs);
  bool refused = false;
  try {
    static_cast<void>(kernel.kernel().device().read_shadow("y", "i32"));
  } catch (const Fault& fault) {
    refused = fault.detail().kind == FaultKind::invalid_request;
  }
  CHECK(refused);
}

TEST("four numbers of a vector access have shadows of their own, in any order of lanes") {
  ShadowedKernel kernel(
      "mul.f32 %f2, %f1, 0f3DCCCCCD;\nmul.lo.u32 %r1, %t, 4;\nmov.u32 %r2, tile;\n"
      "add.u32 %r1, %r1, %r2;\nst.shared.f32 [%r1], %f2;\nbar.sync 0;\nxor.b32 %r3, %t, 5;\n"
      "and.b32 %r3, %r3, 28;\nmul.lo.u32 %r3, %r3, 4;\nadd.u32 %r3, %r3, %r2;\n"
      "ld.shared.v4.f32 {%f3, %f4, %f5, %f6}, [%r3];\nadd.f32 %f7, %f3, %f4;\n"
      "add.f32 %f8, %f5, %f7;\nadd.f32 %f9, %f6, %f8;\nst.global.f32 [%rd2], %f9;\n",
      kInputs, Words(32), ".shared .align 16 .b8 tile[128];\n");
  kernel.run();
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t first = (i ^ 5u) & 28u;
    double sum =
        value_at(kInputs, first) * double{0.1f} + value_at(kInputs, first + 1) * double{0.1f};
    for (std::size_t k = 2; k < 4; ++k) sum = value_at(kInputs, first + k) * double{0.1f} + sum;
    CHECK_EQUAL(sum, kernel.shadow.values[i]);
  }
}

TEST("shared memory that integers write too has the shadows of what is there") {
  ShadowedKernel kernel(
      "mul.f32 %f2, %f1, 0f3DCCCCCD;\nmul.lo.u32 %r1, %t, 4;\nmov.u32 %r2, tile;\n"
      "add.u32 %r1, %r1, %r2;\nst.shared.f32 [%r1], %f2;\nadd.u32 %r4, %t, 0x3f800000;\n"
      "setp.lt.u32 %p1, %t, 16;\n@%p1 st.shared.u32 [%r1], %r4;\nld.shared.f32 %f3, [%r1];\n"
      "st.global.f32 [%rd2], %f3;\n",
      kInputs, Words(32), ".shared .align 16 .b8 tile[128];\n");
  kernel.run();
  CHECK_EQUAL(value_at(kernel.y, 3), kernel.shadow.values[3]);
  CHECK_EQUAL(value_at(kInputs, 20) * double{0.1f}, kernel.shadow.values[20]);
}

TEST("what is undecided in shared memory stays so") {
  ShadowedKernel kernel(
      "add.f32 %f2, %f1, 0f3F800000;\nsetp.gt.f32 %p1, %f2, 0f3F800000;\n"
      "selp.f32 %f3, 0f40000000, %f1, %p1;\nmul.lo.u32 %r1, %t, 4;\nmov.u32 %r2, tile;\n"
      "add.u32 %r1, %r1, %r2;\nst.shared.f32 [%r1], %f3;\nbar.sync 0;\nld.shared.f32 %f4, [%r2];\n"
      "ld.shared.f32 %f5, [%r1];\nst.global.f32 [%rd2], %f5;\nst.global.f32 [%rd2+128], %f4;\n",
      floats(32, 1e-9f, 1e-3f), Words(64), ".shared .align 16 .b8 tile[128];\n");
  kernel.run();
  CHECK_EQUAL(kUndecided, int{kernel.shadow.states[0]});
  CHECK_EQUAL(kExact, int{kernel.shadow.states[1]});
  CHECK_EQUAL(kUndecided, int{kernel.shadow.states[33]});
}
