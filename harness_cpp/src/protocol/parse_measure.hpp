// The steps that time launches: how often, how, and with which contents.
#pragma once

#include "protocol/request.hpp"

namespace cudaopt::protocol {

// Both read every key of their step but "do"; unknown ones are the caller's to reject.
[[nodiscard]] MeasureStep parse_measure(Object& step, const Request& request);
[[nodiscard]] InterleaveStep parse_interleave(Object& step, const Request& request);

}  // namespace cudaopt::protocol
