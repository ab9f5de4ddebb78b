// The words PROTOCOL.md uses for faults and pipes, and the arithmetic of counters.
#include "device.hpp"

#include <algorithm>
#include <numeric>

namespace cudaopt {

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::compile_error:
      return "compile_error";
    case FaultKind::invalid_launch:
      return "invalid_launch";
    case FaultKind::illegal_address:
      return "illegal_address";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::write_to_input:
      return "write_to_input";
    case FaultKind::barrier_divergence:
      return "barrier_divergence";
    case FaultKind::absent_lane:
      return "absent_lane";
    case FaultKind::race:
      return "race";
    case FaultKind::uninitialized_read:
      return "uninitialized_read";
    case FaultKind::unfinished_copy:
      return "unfinished_copy";
    case FaultKind::no_progress:
      return "no_progress";
    case FaultKind::trap:
      return "trap";
    case FaultKind::timeout:
      return "timeout";
    case FaultKind::out_of_memory:
      return "out_of_memory";
    case FaultKind::unsupported_instruction:
      return "unsupported_instruction";
    case FaultKind::no_nvrtc:
      return "no_nvrtc";
    case FaultKind::no_device:
      return "no_device";
    case FaultKind::unknown_entry:
      return "unknown_entry";
    case FaultKind::io_error:
      return "io_error";
    case FaultKind::launch_error:
      return "launch_error";
    case FaultKind::invalid_request:
      return "invalid_request";
  }
  return "launch_error";
}

const char* name_of(Pipe pipe) {
  switch (pipe) {
    case Pipe::fp32:
      return "fp32";
    case Pipe::fp64:
      return "fp64";
    case Pipe::integer:
      return "integer";
    case Pipe::half:
      return "half";
    case Pipe::special:
      return "special";
    case Pipe::tensor:
      return "tensor";
    case Pipe::memory:
      return "memory";
    case Pipe::control:
      return "control";
  }
  return "control";
}

std::uint64_t Counters::total_warp_instructions() const {
  return std::accumulate(warp_instructions.begin(), warp_instructions.end(), std::uint64_t{0});
}

void Counters::add(const Counters& other) {
  for (const auto counter : kSummedCounters) this->*counter += other.*counter;
  for (std::size_t pipe = 0; pipe < kPipes; ++pipe) {
    warp_instructions[pipe] += other.warp_instructions[pipe];
  }
  max_block_instructions = std::max(max_block_instructions, other.max_block_instructions);
}

ShadowValues Device::read_shadow(const std::string& buffer, const std::string&) {
  throw Fault(FaultKind::invalid_request, "the step \"read_shadow\" of buffer '" + buffer +
                                              "' expects sim, got " + description() +
                                              ": a GPU does not say what it rounded");
}

}  // namespace cudaopt
