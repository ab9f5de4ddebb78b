#include "argument_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cudaopt {

std::vector<std::uint8_t> argument_bytes(
    const Argument& argument,
    const std::function<std::uint64_t(const std::string& buffer)>& address_of) {
  if (argument.kind == Argument::Kind::scalar) return argument.bytes;
  if (argument.kind == Argument::Kind::structure) {
    std::vector<std::uint8_t> bytes = argument.bytes;
    for (const Argument& member : argument.members) {
      const std::vector<std::uint8_t> part = argument_bytes(member, address_of);
      std::copy(part.begin(), part.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(member.offset));
    }
    return bytes;
  }
  const std::uint64_t address =
      argument.kind == Argument::Kind::buffer ? address_of(argument.buffer) : 0;
  std::vector<std::uint8_t> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

std::vector<std::string> buffers_of(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& argument : arguments) {
    if (argument.kind == Argument::Kind::buffer) names.push_back(argument.buffer);
    const std::vector<std::string> of_members = buffers_of(argument.members);
    names.insert(names.end(), of_members.begin(), of_members.end());
  }
  return names;
}

}  // namespace cudaopt
