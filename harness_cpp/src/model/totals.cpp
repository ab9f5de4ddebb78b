#include "model/totals.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace cudaopt::model {
namespace {

// How many blocks of the launch a trace stands for, as a fraction.
struct Weight {
  std::uint64_t numerator = 1, denominator = 1;
  [[nodiscard]] double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

// value * numerator / denominator without overflow of the product for any count that occurs.
std::uint64_t scale(std::uint64_t value, Weight weight) {
  return value / weight.denominator * weight.numerator +
         value % weight.denominator * weight.numerator / weight.denominator;
}

Counters scale(Counters c, Weight weight) {
  const auto apply = [&](std::uint64_t& value) { value = scale(value, weight); };
  for (const auto counter : kSummedCounters) apply(c.*counter);
  for (std::uint64_t& value : c.warp_instructions) apply(value);
  return c;
}

void add_touched(std::vector<ArrayTouch>& into, const std::vector<ArrayTouch>& more) {
  for (const ArrayTouch& array : more) {
    auto at =
        std::lower_bound(into.begin(), into.end(), array.base,
                         [](const ArrayTouch& a, std::uint64_t base) { return a.base < base; });
    if (at == into.end() || at->base != array.base) {
      at = into.insert(at, ArrayTouch{array.base, 0, 0, 0, 0, 0});
    }
    at->read_sectors += array.read_sectors;
    at->written_sectors += array.written_sectors;
    at->read_units += array.read_units;
    at->written_units += array.written_units;
    at->filled_units += array.filled_units;
  }
}

void add(BlockTrace& into, const BlockTrace& more) {
  into.counters.add(more.counters);
  for (std::size_t i = 0; i < kPipes; ++i) into.pipe_slots[i] += more.pipe_slots[i];
  into.lsu_wavefronts += more.lsu_wavefronts;
  into.l1_hit_sectors += more.l1_hit_sectors;
  into.l2_read_sectors += more.l2_read_sectors;
  into.l2_written_sectors += more.l2_written_sectors;
  into.l2_partial_sectors += more.l2_partial_sectors;
  into.global_atomic_operations += more.global_atomic_operations;
  into.shared_atomic_wavefronts += more.shared_atomic_wavefronts;
  add_touched(into.touched, more.touched);
  into.by_line.resize(std::max(into.by_line.size(), more.by_line.size()));
  for (std::size_t i = 0; i < more.by_line.size(); ++i) into.by_line[i].add(more.by_line[i]);
}

void scale(BlockTrace& trace, Weight weight) {
  trace.counters = scale(trace.counters, weight);
  for (Counters& line : trace.by_line) line = scale(line, weight);
  const auto apply = [&](std::uint64_t& value) { value = scale(value, weight); };
  for (std::uint64_t& value : trace.pipe_slots) apply(value);
  for (auto* value : {&trace.lsu_wavefronts, &trace.l1_hit_sectors, &trace.l2_read_sectors,
                      &trace.l2_written_sectors, &trace.l2_partial_sectors,
                      &trace.global_atomic_operations, &trace.shared_atomic_wavefronts}) {
    apply(*value);
  }
  for (ArrayTouch& array : trace.touched) {
    for (auto* value : {&array.read_sectors, &array.written_sectors, &array.read_units,
                        &array.written_units, &array.filled_units}) {
      apply(*value);
    }
  }
}

// A granule that one sampled block alone uses belongs to it; one that several use is hit by all.
std::uint64_t hottest_granule(const std::vector<BlockTrace>& traces, std::uint64_t blocks) {
  struct Use {
    std::uint64_t operations = 0, traces = 0;
  };
  std::map<std::uint64_t, Use> uses;
  for (const BlockTrace& trace : traces) {
    for (const AtomicGranule& granule : trace.granules) {
      Use& use = uses[granule.address];
      use.operations += granule.operations;
      ++use.traces;
    }
  }
  std::uint64_t hottest = 0;
  for (const auto& [address, use] : uses) {
    const Weight weight = use.traces > 1 ? Weight{blocks, traces.size()} : Weight{};
    hottest = std::max(hottest, scale(use.operations, weight));
  }
  return hottest;
}

double relative_deviation(const std::vector<BlockTrace>& traces) {
  const auto count = static_cast<double>(traces.size());
  double sum = 0;
  for (const BlockTrace& trace : traces) {
    sum += static_cast<double>(trace.counters.total_warp_instructions());
  }
  const double mean = sum / count;
  double squares = 0;
  for (const BlockTrace& trace : traces) {
    const double gap = static_cast<double>(trace.counters.total_warp_instructions()) - mean;
    squares += gap * gap;
  }
  return mean > 0 ? std::sqrt(squares / count) / mean : 0;
}

Weight weight_of(std::size_t index, std::size_t traces, std::uint64_t blocks) {
  if (traces < 3) return {blocks, traces};
  if (index == 0 || index + 1 == traces) return {};
  return {blocks - 2, traces - 2};
}

}  // namespace

LaunchTotals launch_totals(std::uint64_t blocks, const std::vector<BlockTrace>& traces) {
  LaunchTotals totals;
  totals.blocks = blocks;
  BlockTrace edges, middle;
  const std::size_t count = traces.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool edge = count >= 3 && (i == 0 || i + 1 == count);
    add(edge ? edges : middle, traces[i]);
    const double share = weight_of(i, count, blocks).value() / static_cast<double>(blocks);
    totals.mean_critical_cycles += share * static_cast<double>(traces[i].critical_cycles);
    totals.mean_first_misses += share * static_cast<double>(traces[i].critical_first_misses);
    totals.mean_repeat_misses += share * static_cast<double>(traces[i].critical_repeat_misses);
  }
  scale(middle, weight_of(count / 2, count, blocks));
  totals.sum = middle;
  add(totals.sum, edges);
  totals.hottest_granule_operations = hottest_granule(traces, blocks);
  totals.spread = relative_deviation(traces);
  return totals;
}

}  // namespace cudaopt::model
