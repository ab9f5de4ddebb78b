// What a step may name: the modules and buffers its request declares, and files of its own.
#pragma once

#include <string>

#include "protocol/request.hpp"

namespace cudaopt::protocol {

// Each rejects `value` at its path if it names nothing the request declares.
[[nodiscard]] std::string module_named(const Value& value, const Request& request);
[[nodiscard]] const BufferSpec& buffer_named(const Value& value, const Request& request);

// A file the harness writes: its name must carry the request's nonce.
[[nodiscard]] std::string output_file(const Value& value, const Request& request);

}  // namespace cudaopt::protocol
