// Collects `.loc` directives and ties each to the call site it was inlined at.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

namespace cudaopt::ptx {

class LocationTable {
 public:
  explicit LocationTable(std::vector<Location>& locations) : m_locations(locations) {}

  // What follows `.loc`; returns its index in the locations.
  [[nodiscard]] std::int32_t parse(Lexer& lexer);

  // Call sites are named by file, line and column of an earlier `.loc` of the same function.
  void start_function() { m_latest.clear(); }

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  [[nodiscard]] std::int32_t call_site(const Place& place);
  [[nodiscard]] std::int32_t add(const Place& place, std::int32_t inlined_at);

  std::vector<Location>& m_locations;
  std::map<Place, std::int32_t> m_latest;
};

}  // namespace cudaopt::ptx
