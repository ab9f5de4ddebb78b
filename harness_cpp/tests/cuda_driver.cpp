// The driver, opened: what it says, what its results mean, and what stops it from starting.
#include "cuda/driver.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

TEST("a driver that opens says the newest CUDA it supports") {
  const MadeUpDriver made_up(Settings{{"DRIVER", "12040"}});
  CHECK_EQUAL(12040, made_up.open().version());
}

TEST("a library that is not there is no device, and the message names it and what to do") {
  const FaultDetail fault = fault_of([] { const cuda::Driver driver("/nowhere/libcuda.so.1"); });
  CHECK(FaultKind::no_device == fault.kind);
  CHECK(says(fault, "/nowhere/libcuda.so.1"));
  CHECK(says(fault, "\"sim\""));
}

TEST("a library that is no driver is no device, and the message names the function it lacks") {
  const FaultDetail fault = fault_of([] { const cuda::Driver driver("libdl.so.2"); });
  CHECK(FaultKind::no_device == fault.kind);
  CHECK(says(fault, "cuGetErrorName"));
}

TEST("a driver that does not start is no device, with the driver's reason") {
  for (const auto& [setting, words] : {std::pair{std::pair{"GPUS", "0"}, "CUDA_ERROR_NO_DEVICE"},
                                       std::pair{std::pair{"INIT", "803"}, "different releases"}}) {
    const MadeUpDriver made_up(Settings{{setting.first, setting.second}});
    const FaultDetail fault = fault_of([&] { (void)made_up.open(); });
    CHECK(FaultKind::no_device == fault.kind);
    CHECK(says(fault, words));
  }
}

TEST("a result becomes a fault with its kind, and says whether the process must end") {
  struct Row {
    int result;
    FaultKind kind;
    bool ends;
  };
  const MadeUpDriver made_up;
  const cuda::Driver driver = made_up.open();
  for (const Row& row :
       {Row{1, FaultKind::launch_error, false}, Row{2, FaultKind::out_of_memory, false},
        Row{700, FaultKind::illegal_address, true}, Row{701, FaultKind::invalid_launch, false},
        Row{702, FaultKind::timeout, true}, Row{710, FaultKind::trap, true},
        Row{716, FaultKind::misaligned, true}, Row{719, FaultKind::trap, true},
        Row{220, FaultKind::no_device, true}, Row{226, FaultKind::launch_error, true},
        Row{721, FaultKind::launch_error, true}, Row{810, FaultKind::no_device, true}}) {
    const FaultDetail fault = fault_of([&] { driver.check(row.result, "launch of 'k'"); });
    CHECK(row.kind == fault.kind);
    CHECK_EQUAL(row.ends, fault.ends_process);
    CHECK_EQUAL(0u, fault.message.find("launch of 'k': "));
  }
  driver.check(0, "nothing");
}

TEST("a result nobody knows is a launch error with its number") {
  const MadeUpDriver made_up;
  const cuda::Driver driver = made_up.open();
  const FaultDetail fault = fault_of([&] { driver.check(12345, "launch of 'k'"); });
  CHECK(FaultKind::launch_error == fault.kind);
  CHECK(says(fault, "error 12345"));
}

TEST("what fails of the harness's own work is no fault of a kernel") {
  const MadeUpDriver made_up;
  const cuda::Driver driver = made_up.open();
  for (const auto& [result, kind] : {std::pair{1, FaultKind::no_device},
                                     {2, FaultKind::out_of_memory},
                                     {700, FaultKind::no_device},
                                     {12345, FaultKind::no_device}}) {
    const FaultDetail fault = fault_of([&] { driver.check_own_work(result, "filling 'x'"); });
    CHECK(kind == fault.kind);
    CHECK_EQUAL(result == 700, fault.ends_process);
    CHECK_EQUAL(0u, fault.message.find("filling 'x': "));
    CHECK(!says(fault, "the kernel "));
  }
  driver.check_own_work(0, "nothing");
}
