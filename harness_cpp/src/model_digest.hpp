// Which model this is. Written by model_digest.cmake when the harness is built.
#pragma once

namespace cudaopt {

// Hex digest over the sources that decide counters and modelled latencies: where two builds have
// the same, their numbers may be compared.
[[nodiscard]] const char* model_digest();

}  // namespace cudaopt
