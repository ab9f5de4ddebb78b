// Asks the processor what it has.
#include "isa.hpp"

#include "device.hpp"

namespace cudaopt {

const char* name_of(Isa isa) { return isa == Isa::v3 ? "x86-64-v3" : "x86-64"; }

Isa host_isa() {
#ifdef CUDAOPT_HAVE_V3
  // These four came after, or together with, everything else the level asks for.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    return Isa::v3;
  }
#endif
  return Isa::baseline;
}

Isa choose_isa(const std::string& name) {
  if (name == "auto") return host_isa();
  if (name == name_of(Isa::baseline)) return Isa::baseline;
  if (name == name_of(Isa::v3) && host_isa() == Isa::v3) return Isa::v3;
  if (name == name_of(Isa::v3)) {
    throw Fault(FaultKind::invalid_request,
                "request.sim.isa: this host or build cannot run \"x86-64-v3\". Use \"auto\".");
  }
  throw Fault(
      FaultKind::invalid_request,
      "request.sim.isa: expected \"auto\", \"x86-64\" or \"x86-64-v3\", got \"" + name + "\".");
}

}  // namespace cudaopt
