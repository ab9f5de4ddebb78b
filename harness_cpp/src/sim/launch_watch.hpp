// What a launch with checks sees: the arrays it may access, the time, what it found. Such launches
// run on one host thread, so what is found depends on nothing but the order of turns.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device.hpp"
#include "sim/access_plan.hpp"
#include "sim/access_stamp.hpp"
#include "sim/block.hpp"
#include "sim/block_clocks.hpp"
#include "sim/check_findings.hpp"
#include "sim/watched_array.hpp"

namespace cudaopt::sim {

class LaunchWatch {
 public:
  // `launch` outlives the watch.
  LaunchWatch(const Launch& launch, const CheckSpec& checks);
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  [[nodiscard]] bool accesses() const { return m_accesses; }
  [[nodiscard]] Time now() const { return m_now; }
  Time tick();

  // The array an address that may be accessed lies in.
  [[nodiscard]] WatchedArray& array_at(std::uint64_t address) {
    return m_arrays[(address + kGlobalStride / 2) / kGlobalStride];
  }
  // By Op::memo.
  [[nodiscard]] AccessPlan& plan(std::int32_t memo) {
    return m_plans[static_cast<std::size_t>(memo)];
  }

  // Stamps of global memory are told apart by whose turn it was. Before a block's first access of a
  // turn; true if the turn is a new one.
  bool take_turn(std::uint64_t block) {
    if (m_turn_of == block) return false;
    begin_turn(block);
    return true;
  }
  void end_turn() { m_turn_of = kNobody; }
  [[nodiscard]] std::uint64_t block_at(Time time) const;

  // Where threads meet at a global address; nullptr if nobody released there.
  [[nodiscard]] SyncLocation* find_location(std::uint64_t address);
  [[nodiscard]] SyncLocation& location(std::uint64_t address) { return m_locations[address]; }

  [[nodiscard]] CheckFindings& findings() { return m_findings; }

  // At the end, however the launch ended.
  [[nodiscard]] std::vector<Finding> finish();
  [[nodiscard]] std::optional<std::uint64_t> touched_bytes() const;
  // Arrays too large to follow, for the report.
  [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  // Of cells, which take six bytes for each byte of an array that the kernel may write.
  static constexpr std::uint64_t kCellBytes = std::uint64_t{4} << 30;

  void begin_turn(std::uint64_t block);
  void watch(WatchedArray& array, const Allocation& allocation, bool counted);

  const Launch& m_launch;
  bool m_accesses, m_counts;
  Time m_now = 1;
  std::uint64_t m_turn_of = kNobody;
  std::uint64_t m_cell_bytes = 0;
  std::vector<std::pair<Time, std::uint64_t>> m_turns;
  std::vector<WatchedArray> m_arrays;  // by allocation
  std::vector<AccessPlan> m_plans;
  std::unordered_map<std::uint64_t, SyncLocation> m_locations;
  CheckFindings m_findings;
  std::vector<std::string> m_notes;
};

}  // namespace cudaopt::sim
