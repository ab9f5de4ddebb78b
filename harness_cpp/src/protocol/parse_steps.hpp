// The program of a request: its steps, checked against the modules and buffers it declares.
#pragma once

#include <vector>

#include "protocol/request.hpp"

namespace cudaopt::protocol {

// `request` has its nonce, modules and buffers already.
[[nodiscard]] std::vector<Step> parse_steps(const Value& steps, const Request& request);

}  // namespace cudaopt::protocol
