#include "sim/finding_text.hpp"

namespace cudaopt::sim {
namespace {

bool is_atomic(const std::string& instruction) {
  const auto at = instruction.find("atom.");
  return at != std::string::npos || instruction.find("red.") == 0;
}

}  // namespace

std::string place_text(const ArrayPlace& place) {
  return place.name + "[" + std::to_string(place.element) + "]";
}

const char* access_name(const std::string& instruction, bool reads) {
  if (is_atomic(instruction)) return "atomic";
  return reads ? "read" : "write";
}

std::string verb(const std::string& access) {
  if (access == "atomic") return "updates";
  return access == "read" ? "reads" : "writes";
}

std::string line_of(const OtherParty& other) {
  return other.at ? " at " + other.at->file + ":" + std::to_string(other.at->line) : "";
}

}  // namespace cudaopt::sim
