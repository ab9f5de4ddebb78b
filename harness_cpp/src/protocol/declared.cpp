#include "protocol/declared.hpp"

namespace cudaopt::protocol {

std::string module_named(const Value& value, const Request& request) {
  const std::string name = value.text();
  for (const ModuleSpec& declared : request.modules) {
    if (declared.name == name) return name;
  }
  value.reject("the name of a module", "Declare it in request.modules.");
}

const BufferSpec& buffer_named(const Value& value, const Request& request) {
  const std::string name = value.text();
  for (const BufferEntry& declared : request.buffers) {
    if (declared.spec.name == name) return declared.spec;
  }
  value.reject("the name of a buffer", "Declare it in request.buffers.");
}

// A stale or foreign file must never pass for this request's output.
std::string output_file(const Value& value, const Request& request) {
  std::string name = value.nonempty_text();
  if (name.find(request.nonce) == std::string::npos) {
    value.reject("a file name that contains the nonce \"" + request.nonce + "\"");
  }
  return name;
}

}  // namespace cudaopt::protocol
