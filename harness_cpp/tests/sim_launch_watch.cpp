#include "check.hpp"
#include "sim/block.hpp"
#include "sim/launch_watch.hpp"

namespace {

using namespace cudaopt;
using namespace cudaopt::sim;

std::vector<std::string> notes_of(std::uint64_t bytes, bool read_only) {
  const Program program;
  Allocation output;
  output.base = kGlobalStride;
  output.bytes = bytes;
  output.element_bytes = 4;
  output.read_only = read_only;
  output.name = "y";
  const Allocation allocations[] = {{}, output};
  Launch launch;
  launch.program = &program;
  launch.allocations = allocations;
  launch.allocation_count = 2;
  CheckSpec checks;
  checks.accesses = true;
  return LaunchWatch(launch, checks).notes();
}

}  // namespace

TEST("launch watch: an array too large to follow is named") {
  CHECK_EQUAL(std::size_t{0}, notes_of(1024, false).size());
  CHECK_EQUAL(std::size_t{0}, notes_of(std::uint64_t{1} << 36, true).size());
  const std::vector<std::string> notes = notes_of(std::uint64_t{1} << 36, false);
  CHECK_EQUAL(std::size_t{1}, notes.size());
  CHECK_EQUAL("'y' is too large to look for races in it", notes[0]);
}
