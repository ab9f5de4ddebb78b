// Which instructions look, and which do something.
#include "isa.hpp"
#include "ptx/parser.hpp"
#include "sim/decode.hpp"
#include "sim/device_memory.hpp"
#include "sim/instruction_set.hpp"
#include "sim/module_image.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

struct Kinds {
  std::size_t polling, storing;
};

Kinds kinds_of(const std::string& body) {
  sim::DeviceMemory memory;
  const sim::ModuleImage image(ptx::parse(Kernel::module_text(1, body, ".shared .b32 s[8];")),
                               "k.cu", memory);
  const sim::Program program =
      sim::decode(image, image.module().functions.front(), sim::instruction_set(Isa::baseline).bind,
                  sim::Watch::nothing);
  return {program.polling.size(), program.storing.size()};
}

}  // namespace

TEST("loads that see what others write and atomics whose result is used are looks") {
  for (const char* look :
       {"ld.volatile.shared.u32 %r1, [s];", "ld.relaxed.gpu.global.u32 %r1, [%x0];",
        "ld.global.cv.u32 %r1, [%x0];", "fence.acq_rel.gpu;", "nanosleep.u32 20;",
        "atom.shared.add.u32 %r1, [s], 1;\nadd.u32 %r2, %r1, 1;"}) {
    const Kinds kinds = kinds_of(look);
    CHECK_EQUAL(1u, kinds.polling);
    CHECK_EQUAL(0u, kinds.storing);
  }
}

TEST("a wmma.store is a store, a wmma.load is nothing of the kind") {
  std::string registers;
  for (int i = 1; i <= 8; ++i) registers += (i == 1 ? "%f" : ", %f") + std::to_string(i);
  const Kinds store = kinds_of("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%x0], {" +
                               registers + "}, 16;");
  CHECK_EQUAL(1u, store.storing);
  const Kinds load =
      kinds_of("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {" + registers + "}, [%x0], 16;");
  CHECK_EQUAL(0u, load.storing + load.polling);
}

TEST("stores, and atomics whose result nobody reads, are none") {
  for (const char* store :
       {"st.shared.u32 [s], %t;", "red.global.add.u32 [%x0], 1;",
        "atom.shared.add.u32 %r1, [s], 1;", "st.volatile.global.u32 [%x0], 1;"}) {
    const Kinds kinds = kinds_of(store);
    CHECK_EQUAL(0u, kinds.polling);
    CHECK_EQUAL(1u, kinds.storing);
  }
  const Kinds plain = kinds_of("ld.global.u32 %r1, [%x0];\nadd.u32 %r2, %r1, 1;");
  CHECK_EQUAL(0u, plain.polling + plain.storing);
}
