// What happens where NVRTC is not. Its calls are tested through the whole program.
#include <filesystem>
#include <fstream>

#include "check.hpp"
#include "compile/nvrtc.hpp"
#include "device.hpp"

using namespace cudaopt;
using namespace cudaopt::compile;

namespace {

FaultDetail fault_of_opening(const std::string& path) {
  try {
    NvrtcLibraries libraries;
    (void)libraries.open(path);
  } catch (const Fault& fault) {
    return fault.detail();
  }
  throw check::Failure("opened " + path);
}

}  // namespace

TEST("a compiler that is not there is named, with what to install") {
  const FaultDetail detail = fault_of_opening("/nowhere/libnvrtc.so");
  CHECK(detail.kind == FaultKind::no_nvrtc);
  CHECK(detail.message.find("/nowhere/libnvrtc.so") != std::string::npos);
  CHECK(detail.message.find("pip install") != std::string::npos);
}

TEST("a library that is not NVRTC is refused by the function it lacks") {
  const FaultDetail detail = fault_of_opening("libm.so.6");
  CHECK(detail.kind == FaultKind::no_nvrtc);
  CHECK(detail.message.find("nvrtcGetErrorString") != std::string::npos);
}

TEST("the built-in functions that are opened are those beside the library") {
  const auto folder = std::filesystem::temp_directory_path() / "cudaopt-builtins-beside";
  std::filesystem::create_directories(folder);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "other.so"}) {
    std::ofstream(folder / name) << "x";
  }
  const auto found = builtins_beside((folder / "libnvrtc.so.13").string());
  std::filesystem::remove_all(folder);
  CHECK_EQUAL(1u, found.size());
  CHECK_EQUAL((folder / "libnvrtc-builtins.so.13.0").string(), found.at(0));
  CHECK(builtins_beside("").empty());
  CHECK(builtins_beside("libnvrtc.so.13").empty());
}
