// What was counted and what was timed, to JSON, keys in PROTOCOL.md's order.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "device.hpp"

namespace cudaopt::protocol {

[[nodiscard]] nlohmann::ordered_json counters_json(const Counters& counters);

// Members of the step's answer after its "do". Each throws Fault launch_error for a number that is
// not finite: an error of the harness, which JSON could only hide.
[[nodiscard]] nlohmann::ordered_json members_of(const Measurement& measurement);
[[nodiscard]] nlohmann::ordered_json members_of(const InterleavedTiming& timing);

}  // namespace cudaopt::protocol
