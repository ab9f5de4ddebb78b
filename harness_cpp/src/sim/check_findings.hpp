// What the checks of a launch found, one finding for each pair of source lines and array.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "device.hpp"
#include "sim/block.hpp"
#include "sim/watched_array.hpp"

namespace cudaopt::sim {

// A thread and the instruction with which it accessed memory.
struct Party {
  std::uint64_t block = 0;
  std::uint32_t warp = 0, lane = 0;
  std::int32_t pc = 0;
};

// What made a value that PTX leaves undefined: a shuffle from a lane that took no part, or a load.
struct UndefinedOrigin {
  Party at;
  std::uint32_t other_lane = 0;  // of the shuffle
  bool unwritten = false;        // a load of these bytes of the thread's local memory
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

enum class Missing : std::uint8_t {
  one_value,  // lanes of one instruction write different values
  warp_barrier,
  block_barrier,
  grid_order,
  copy_wait,  // the other is a cp.async that may still be writing
};

// How two accesses collide: those of `at` and `other`, at a byte of an array.
struct Collision {
  const WatchedArray* array = nullptr;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;  // of the access at `at`
  Party at, other;
  bool reads = false, other_reads = false;
  Missing missing = Missing::block_barrier;
};

class CheckFindings {
 public:
  explicit CheckFindings(const Launch& launch) : m_launch(launch) {}

  void add_race(const Collision& collision);
  // A read of what a thread wrote that went past the barrier, which the reader executed.
  void add_passed(const Collision& collision, std::int32_t barrier_pc);
  // A read (or an update) of bytes nobody wrote. `array` nullptr: local memory at `offset`.
  void add_unwritten(const WatchedArray* array, std::uint64_t offset, std::uint32_t bytes,
                     const Party& at);
  // Something depends on an undefined value.
  void add_undefined(const UndefinedOrigin& origin, const Party& use);

  // By place in the source.
  [[nodiscard]] std::vector<Finding> sorted() const;

 private:
  static constexpr std::size_t kMost = 100;
  using Key = std::tuple<FaultKind, std::uint64_t, std::int32_t, std::int32_t>;

  void add(const Key& key, Finding finding);
  [[nodiscard]] bool counted(const Key& key);
  [[nodiscard]] std::uint64_t array_key(const WatchedArray* array, std::uint64_t offset) const;
  [[nodiscard]] FaultDetail detail_of(const Party& at, const ArrayPlace& place,
                                      std::uint32_t bytes) const;
  [[nodiscard]] OtherParty other_of(const Party& other, bool reads) const;
  [[nodiscard]] Dim3 block_index(std::uint64_t linear) const;
  [[nodiscard]] Dim3 thread_of(const Party& party) const;
  [[nodiscard]] const Op* op_at(std::int32_t pc) const;
  [[nodiscard]] bool is_speculated(std::int32_t pc);
  [[nodiscard]] Finding unwritten_of(const WatchedArray* array, std::uint64_t offset,
                                     std::uint32_t bytes, const Party& at) const;
  [[nodiscard]] Finding from_nowhere(const UndefinedOrigin& origin, const Party& use) const;
  [[nodiscard]] Finding race_of(const Collision& collision, FaultKind kind) const;

  const Launch& m_launch;
  std::vector<Finding> m_findings;
  std::map<Key, std::size_t> m_at;  // by instructions; several may lead to one finding
  std::map<std::string, std::size_t> m_by_lines;
  std::map<std::size_t, Missing> m_missing;   // by finding: the widest order that is missing
  std::map<std::int32_t, bool> m_speculated;  // by pc
};

}  // namespace cudaopt::sim
