#include "model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudaopt::model {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Registers are handed to warps, and each of the four schedulers has its own quarter of them.
std::uint64_t blocks_by_registers(const DeviceTable& table, std::uint64_t warps,
                                  std::uint32_t registers_per_thread) {
  if (registers_per_thread == 0) return table.blocks_per_sm;
  if (registers_per_thread > table.max_registers_per_thread) return 0;
  const std::uint64_t per_warp = round_up(registers_per_thread * 32u, table.register_unit);
  const std::uint64_t per_scheduler = table.registers_per_sm / table.schedulers_per_sm / per_warp;
  return per_scheduler * table.schedulers_per_sm / warps;
}

std::uint64_t blocks_by_shared(const DeviceTable& table, std::uint64_t shared_bytes) {
  if (shared_bytes > table.shared_bytes_per_block) return 0;
  const std::uint64_t per_block =
      round_up(shared_bytes + table.shared_bytes_reserved_per_block, table.shared_unit_bytes);
  return table.shared_bytes_per_sm / per_block;
}

}  // namespace

Occupancy occupancy(const DeviceTable& table, std::uint64_t threads_per_block,
                    std::uint32_t registers_per_thread, std::uint64_t shared_bytes_per_block) {
  const std::uint64_t warps = std::max<std::uint64_t>(1, (threads_per_block + 31) / 32);
  // The first of equals is named, so the order is part of the answer.
  const std::array<std::pair<const char*, std::uint64_t>, 4> limits{{
      {"warps", threads_per_block > table.max_threads_per_block ? 0 : table.warps_per_sm / warps},
      {"blocks", table.blocks_per_sm},
      {"registers", blocks_by_registers(table, warps, registers_per_thread)},
      {"shared", blocks_by_shared(table, shared_bytes_per_block)},
  }};
  const auto lowest = std::min_element(limits.begin(), limits.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
  Occupancy result;
  result.blocks_per_sm = static_cast<std::uint32_t>(lowest->second);
  result.warps_per_sm = static_cast<std::uint32_t>(lowest->second * warps);
  result.limited_by = lowest->first;
  return result;
}

}  // namespace cudaopt::model
