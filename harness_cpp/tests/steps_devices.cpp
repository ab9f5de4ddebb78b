// Which device a request gets.
#include "check.hpp"
#include "steps/devices.hpp"

using namespace cudaopt;
using cudaopt::steps::Devices;

namespace {

protocol::Request for_device(const std::string& device) {
  protocol::Request request;
  request.device = device;
  return request;
}

}  // namespace

TEST("a GPU is named by its number, and by nothing else") {
  CHECK_EQUAL(0, steps::gpu_index_of("cuda:0").value());
  CHECK_EQUAL(12, steps::gpu_index_of("cuda:12").value());
  for (const char* text : {"sim", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:1x",
                           "cuda:99999", "CUDA:0"}) {
    CHECK(!steps::gpu_index_of(text));
  }
}

TEST("sim is made with the options of the request") {
  Devices devices("");
  protocol::Request request = for_device("sim");
  CHECK_EQUAL(std::string("sim (modelled h200)"), devices.open(request)->description());
  request.sim.model = "h201";
  CHECK_THROWS(Fault, devices.open(request));
}

TEST("a device nobody knows is the request's fault") {
  Devices devices("");
  try {
    (void)devices.open(for_device("cuda:x"));
    throw check::Failure("opened");
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::invalid_request);
    CHECK_EQUAL(std::string("request.device: expected \"sim\" or \"cuda:N\", got \"cuda:x\". Use "
                            "\"sim\", or \"cuda:0\" for the first GPU."),
                std::string(fault.what()));
  }
}
