// Answers as text.
#include "check.hpp"
#include "protocol/answer.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

TEST("an answer without a fault is ok, and one line") {
  Answer answer;
  answer.id = "a", answer.nonce = "n", answer.device = "sim";
  answer.steps = {FillAnswer{}, ReadAnswer{8, std::nullopt}};
  CHECK_EQUAL(std::string(R"({"protocol":1,"id":"a","nonce":"n","status":"ok","device":"sim",)"
                          R"("steps":[{"do":"fill"},{"do":"read","bytes":8}]})"),
              text_of(answer));
}

TEST("a read says whether the buffer changed, if it was asked") {
  Answer answer;
  answer.steps = {ReadAnswer{8, true}, ReadAnswer{8, false}};
  CHECK(text_of(answer).find(R"([{"do":"read","bytes":8,"changed":true},)"
                             R"({"do":"read","bytes":8,"changed":false}])") != std::string::npos);
}

TEST("a fault names its step, place and element, and leaves out what it does not know") {
  FaultDetail detail;
  detail.kind = FaultKind::illegal_address;
  detail.message = "m";
  detail.at = SourcePoint{"k.cu", 3};
  detail.inlined_from = {{"k.cu", 9}};
  detail.element = -1;
  detail.block = Dim3{3, 0, 0};
  Answer answer;
  answer.fault = FaultAnswer{2, detail};
  CHECK_EQUAL(
      std::string(R"({"protocol":1,"id":"","nonce":"","status":"fault","steps":[],)"
                  R"("fault":{"kind":"illegal_address","step":2,"message":"m","file":"k.cu",)"
                  R"("line":3,"inlined_from":[{"file":"k.cu","line":9}],"element":-1,)"
                  R"("block":[3,0,0]}})"),
      text_of(answer));
}

TEST("a request at fault is invalid, whichever step found out") {
  Answer answer;
  answer.fault = FaultAnswer{1, Fault(FaultKind::invalid_request, "m").detail()};
  CHECK(answer.status() == Status::invalid);
}

TEST("bytes that are no UTF-8 do not stop an answer") {
  Answer answer;
  answer.fault = FaultAnswer{std::nullopt, Fault(FaultKind::trap, "\xff").detail()};
  CHECK(text_of(answer).find("\xef\xbf\xbd") != std::string::npos);
}

TEST("only a fault that ends the process says so") {
  FaultDetail detail;
  detail.kind = FaultKind::illegal_address;
  detail.message = "m";
  Answer answer;
  CHECK(!answer.ending());
  answer.fault = FaultAnswer{0, detail};
  CHECK(!answer.ending());
  CHECK(text_of(answer).find("ending") == std::string::npos);
  answer.fault->detail.ends_process = true;
  CHECK(answer.ending());
  CHECK(text_of(answer).find(R"("steps":[],"ending":true,"fault":{)") != std::string::npos);
}

TEST("limits of a GPU carry the driver's facts, those of sim do not") {
  DeviceLimits limits;
  limits.name = "n", limits.architecture = "sm_90";
  limits.multiprocessors = 132, limits.max_threads_per_block = 1024, limits.max_shared_bytes = 7;
  limits.max_grid = {3, 2, 1}, limits.max_block = {6, 5, 4};
  Answer answer;
  answer.steps = {LimitsAnswer{limits}};
  const std::string common =
      R"({"do":"limits","limits":{"name":"n","architecture":"sm_90","multiprocessors":132,)"
      R"("warp_size":32,"max_threads_per_block":1024,"max_shared_bytes":7,"max_grid":[3,2,1],)"
      R"("max_block":[6,5,4])";
  CHECK(text_of(answer).find(common + "}}") != std::string::npos);
  GpuFacts gpu;
  gpu.uuid = "GPU-1", gpu.driver_major = 13, gpu.memory_bytes = 9, gpu.free_bytes = 8;
  gpu.l2_bytes = 5, gpu.sm_clock_mhz = 1980, gpu.memory_bus_bits = 6016, gpu.guard_pages = true;
  limits.gpu = gpu;
  answer.steps = {LimitsAnswer{limits}};
  CHECK(text_of(answer).find(
            common + R"(,"gpu":{"uuid":"GPU-1","driver":[13,0],"memory_bytes":9,"free_bytes":8,)"
                     R"("l2_bytes":5,"sm_clock_mhz":1980.0,"memory_clock_mhz":0.0,)"
                     R"("memory_bus_bits":6016,"guard_pages":true}}})") != std::string::npos);
}

TEST("a reset is answered by its name") {
  Answer answer;
  answer.steps = {ResetAnswer{}};
  CHECK(text_of(answer).find(R"("steps":[{"do":"reset"}])") != std::string::npos);
}
