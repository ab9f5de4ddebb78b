// Where the .param variables of a function live among its registers: its own parameters and
// results, and those of the calls it makes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "ptx/control_flow.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// CUDA allows 4 KiB, and 32 KiB to kernels.
inline constexpr std::uint64_t kMostParameterBytes = 32 * 1024;

class ParameterPlaces {
 public:
  // Offsets count from 0 until `move_to`. Variables of call sequences share words where their lives
  // do not overlap.
  ParameterPlaces(const ptx::Function& function, const ptx::ControlFlow& flow);

  void move_to(std::int32_t offset);
  [[nodiscard]] std::uint32_t words() const { return m_words; }
  // nullptr: no such variable, or one larger than any device allows.
  [[nodiscard]] const ParameterWords* find(const std::string& name) const;

 private:
  void place_forever(const std::string& name, std::uint64_t bytes);

  std::unordered_map<std::string, ParameterWords> m_places;
  std::uint32_t m_words = 0;
};

}  // namespace cudaopt::sim
