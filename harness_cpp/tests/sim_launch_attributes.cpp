// Cooperative grids and clusters on sim: blocks that wait for each other, and what clusters are
// told.
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

// Block b stores b + 1 to y[b], waits until all blocks have, and stores its neighbour's to z[b].
const std::string kGridSync =
    "add.u32 %r1, %b, 1;\nmul.wide.u32 %rd1, %b, 4;\nadd.s64 %rd2, %x0, %rd1;\n"
    "st.global.u32 [%rd2], %r1;\nmov.u32 %r2, %nctaid.x;\n"
    "atom.add.release.gpu.global.u32 %r3, [%x2], 1;\n"
    "WAIT:\nld.acquire.gpu.global.u32 %r4, [%x2];\nsetp.lt.u32 %p1, %r4, %r2;\n@%p1 bra WAIT;\n"
    "rem.u32 %r5, %r1, %r2;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %x0, %rd3;\n"
    "ld.global.u32 %r6, [%rd4];\nadd.s64 %rd5, %x1, %rd1;\nst.global.u32 [%rd5], %r6;\n";

Kernel grid_sync(const SimOptions& options = Kernel::one_thread()) {
  return Kernel(3, kGridSync, "", options);
}

LaunchSpec cooperative(const Kernel& kernel, std::uint32_t block, std::uint32_t grid) {
  LaunchSpec spec = kernel.spec(block, grid);
  spec.cooperative = true;
  return spec;
}

FaultDetail fault_of(Kernel& kernel, const LaunchSpec& spec) {
  try {
    (void)kernel.device().launch(spec);
  } catch (const Fault& fault) {
    return fault.detail();
  }
  throw check::Failure("no fault");
}

bool says(const FaultDetail& fault, const std::string& words) {
  return fault.message.find(words) != std::string::npos;
}

}  // namespace

TEST("blocks of a cooperative launch may wait for each other") {
  for (const unsigned threads : {1u, 3u}) {
    SimOptions options;
    options.threads = threads;
    Kernel kernel = grid_sync(options);
    kernel.buffer("y", Words(100)).buffer("z", Words(100)).buffer("count", Words(1));
    const LaunchReport report = kernel.device().launch(cooperative(kernel, 1, 100));
    Words expected = counting(100, 2);
    expected[99] = 1;
    CHECK_WORDS(expected, kernel.read("z"));
    CHECK_EQUAL(100u, report.counters->blocks);
  }
}

TEST("blocks of a plain launch may wait for each other as far as they run at once") {
  constexpr std::uint32_t kSharedBytes = 200000;  // one block per multiprocessor
  Kernel kernel = grid_sync();
  kernel.buffer("y", Words(133)).buffer("z", Words(133)).buffer("count", Words(1));
  CHECK_EQUAL(132u, kernel.run(1, 132, kSharedBytes).blocks);
  CHECK_EQUAL(1u, kernel.read("z")[131]);
  Kernel larger = grid_sync();
  larger.buffer("y", Words(133)).buffer("z", Words(133)).buffer("count", Words(1));
  const FaultDetail fault = larger.fault(1, 133, kSharedBytes);
  CHECK(FaultKind::no_progress == fault.kind);
  CHECK(says(fault, "132 threads go round"));
  CHECK(says(fault, "132 of 133 blocks run, as many as the GPU holds at once"));
}

TEST("a cooperative grid larger than the GPU holds is refused with the numbers") {
  Kernel kernel = grid_sync();
  kernel.buffer("y", Words(1)).buffer("z", Words(1)).buffer("count", Words(1));
  const FaultDetail fault = fault_of(kernel, cooperative(kernel, 1024, 265));
  CHECK(FaultKind::invalid_launch == fault.kind);
  CHECK(says(fault, "265 blocks, 264 are resident at once (2 on each of 132"));
}

TEST("a fault of a cooperative block is reported with its block") {
  Kernel kernel(1,
                "mul.wide.u32 %rd1, %b, 4;\nadd.s64 %rd2, %x0, %rd1;\n"
                "atom.add.global.u32 %r1, [%rd2], 1;\nst.global.u32 [%rd2], %r1;");
  kernel.buffer("y", Words(3));
  const FaultDetail fault = fault_of(kernel, cooperative(kernel, 1, 5));
  CHECK(FaultKind::illegal_address == fault.kind);
  CHECK_EQUAL(3u, fault.block->x);
}

TEST("no latency is modelled where blocks wait for each other") {
  for (const bool asks : {true, false}) {
    Kernel kernel = grid_sync();
    kernel.buffer("y", Words(4)).buffer("z", Words(4)).buffer("count", Words(1));
    LaunchSpec spec = cooperative(kernel, 1, 4);
    spec.cooperative = asks;
    try {
      (void)kernel.device().measure(spec, {});
      CHECK(false);
    } catch (const Fault& fault) {
      CHECK(FaultKind::unsupported_instruction == fault.detail().kind);
      CHECK(says(fault.detail(), "run on cuda"));
    }
  }
}

TEST("a cooperative launch whose blocks do not wait is modelled as any other") {
  Kernel kernel(1,
                "mul.wide.u32 %rd1, %b, 4;\nadd.s64 %rd2, %x0, %rd1;\nst.global.u32 [%rd2], %b;");
  kernel.buffer("y", Words(4));
  const double plain_ns = kernel.device().measure(kernel.spec(1, 4), {}).median_ns;
  CHECK_EQUAL(plain_ns, kernel.device().measure(cooperative(kernel, 1, 4), {}).median_ns);
}

// What cooperative_groups makes of grid.sync(): the barrier is 4 bytes into what %envreg1/2 point
// to.
TEST("only a cooperative launch has the memory in which a grid synchronises, and it is clear") {
  Kernel kernel(1,
                "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\nmov.b64 %rd1, {%r2, %r1};\n"
                "setp.eq.s64 %p1, %rd1, 0;\n@%p1 bra NONE;\n"
                "atom.add.u32 %r3, [%rd1+4], 7;\nadd.u32 %r3, %r3, 1;\n"
                "st.global.u32 [%x0], %r3;\nNONE:\n");
  kernel.buffer("y", Words(1));
  kernel.run(1);
  CHECK_WORDS(Words{0}, kernel.read("y"));
  for (int i = 0; i < 2; ++i) {
    (void)kernel.device().launch(cooperative(kernel, 1, 1));
    CHECK_WORDS(Words{1}, kernel.read("y"));
  }
}

TEST("a block is told its place in the cluster") {
  const auto told = [](const std::string& special) {
    Kernel kernel(1, "mov.u32 %r1, " + special +
                         ";\nmul.wide.u32 %rd1, %b, 4;\nadd.s64 %rd2, %x0, %rd1;\n"
                         "st.global.u32 [%rd2], %r1;");
    kernel.buffer("y", Words(4));
    LaunchSpec spec = kernel.spec(1, 4);
    spec.cluster = Dim3{2, 1, 1};
    (void)kernel.device().launch(spec);
    return kernel.read("y");
  };
  CHECK_WORDS((Words{0, 1, 0, 1}), told("%cluster_ctaid.x"));
  CHECK_WORDS((Words{0, 0, 0, 0}), told("%cluster_ctaid.y"));
  CHECK_WORDS((Words{0, 1, 0, 1}), told("%cluster_ctarank"));
  CHECK_WORDS((Words{2, 2, 2, 2}), told("%cluster_nctaid.x"));
  CHECK_WORDS((Words{2, 2, 2, 2}), told("%cluster_nctarank"));
  CHECK_WORDS((Words{0, 0, 1, 1}), told("%clusterid.x"));
  CHECK_WORDS((Words{2, 2, 2, 2}), told("%nclusterid.x"));
}

TEST("ranks count through a cluster of several dimensions") {
  Kernel kernel(1,
                "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %nctaid.x;\n"
                "mad.lo.u32 %r4, %r2, %r3, %b;\nmul.wide.u32 %rd1, %r4, 4;\n"
                "add.s64 %rd2, %x0, %rd1;\nst.global.u32 [%rd2], %r1;");
  kernel.buffer("y", Words(8));
  LaunchSpec spec = kernel.spec(1, 1);
  spec.grid = {4, 2, 1};
  spec.cluster = Dim3{2, 2, 1};
  (void)kernel.device().launch(spec);
  CHECK_WORDS((Words{0, 1, 0, 1, 2, 3, 2, 3}), kernel.read("y"));
}

TEST("without clusters a block is a cluster of its own") {
  Kernel kernel(1, "mov.u32 %r1, %cluster_nctarank;\nst.global.u32 [%x0], %r1;");
  kernel.buffer("y", Words(1));
  kernel.run(1);
  CHECK_WORDS(Words{1}, kernel.read("y"));
}

TEST("what blocks of a cluster do together is left to a GPU") {
  for (const char* body : {"barrier.cluster.arrive;", "mapa.u64 %rd1, %x0, %r1;"}) {
    Kernel kernel(1, body);
    kernel.buffer("y", Words(1));
    LaunchSpec spec = kernel.spec(1, 2);
    spec.cluster = Dim3{2, 1, 1};
    CHECK(FaultKind::unsupported_instruction == fault_of(kernel, spec).kind);
  }
}

TEST("a kernel compiled for clusters is launched in these alone") {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k()\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n"
      "{\nret;\n}\n";
  Kernel kernel(text);
  CHECK(says(fault_of(kernel, kernel.spec(1, 2)), "Launch it with cluster=(2,1,1)"));
}
