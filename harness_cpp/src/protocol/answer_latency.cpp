#include "protocol/answer_latency.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cudaopt::protocol {
namespace {

using Json = nlohmann::ordered_json;

// JSON knows no NaN or infinity, and the writer would turn them into null unasked.
double finite(double value, const char* name) {
  if (!std::isfinite(value)) {
    throw Fault(FaultKind::launch_error,
                std::string("internal error of the harness: ") + name +
                    " is not a finite number. Please report it with the request.");
  }
  return value;
}

Json json_of(const std::vector<double>& values, const char* name) {
  Json list = Json::array();
  for (const double value : values) list.push_back(finite(value, name));
  return list;
}

const char* name_of(SamplingMode mode) { return mode == SamplingMode::batch ? "batch" : "cold"; }

Json json_of(const Sampling& sampling) {
  return {{"median_ns", finite(sampling.median_ns, "median_ns")},
          {"samples_ns", json_of(sampling.samples_ns, "a sample")}};
}

Json json_of_batch(const Sampling& sampling) {
  Json json = json_of(sampling);
  json["launches"] = sampling.launches;
  json["copies"] = sampling.copies;
  if (sampling.floor_ns != 0) json["floor_ns"] = finite(sampling.floor_ns, "floor_ns");
  return json;
}

Json measured_latency(const Timing& timing, double median_ns) {
  Json json = {{"mode", name_of(timing.mode)}, {"median_ns", finite(median_ns, "median_ns")}};
  if (timing.cold) json["cold"] = json_of(*timing.cold);
  if (timing.batch) json["batch"] = json_of_batch(*timing.batch);
  if (!timing.batch_refused.empty()) json["batch_refused"] = timing.batch_refused;
  json["warmup_launches"] = timing.warmup_launches;
  json["tick_ns"] = finite(timing.tick_ns, "tick_ns");
  json["sm_clock_mhz"] = json_of(timing.sm_clock_mhz, "an SM clock");
  json["contents"] = timing.contents;
  if (timing.captured) {
    json["captured"] = {{"mode", name_of(timing.captured->mode)},
                        {"sample", timing.captured->sample}};
  }
  json["notes"] = timing.notes;
  return json;
}

// Of one line most counters are 0.
Json nonzero_counters(const Counters& counters) {
  const Json all = counters_json(counters);
  Json kept = Json::object();
  for (const auto& [name, value] : all.items()) {
    if (value.is_number() && value != 0) kept[name] = value;
    if (!value.is_object()) continue;
    kept[name] = Json::object();
    for (const auto& [pipe, count] : value.items()) {
      if (count != 0) kept[name][pipe] = count;
    }
  }
  return kept;
}

Json json_of(const std::vector<LineCounters>& lines) {
  Json list = Json::array();
  for (const LineCounters& line : lines) {
    list.push_back({{"file", line.at.file},
                    {"line", line.at.line},
                    {"counters", nonzero_counters(line.counters)}});
  }
  return list;
}

Json modelled_latency(const Measurement& measurement) {
  Json terms = Json::object();
  for (const auto& [name, term_ns] : measurement.terms_ns) {
    terms[name] = finite(term_ns, name.c_str());
  }
  const Occupancy& occupancy = measurement.occupancy;
  Json json = {{"median_ns", finite(measurement.median_ns, "median_ns")},
               {"bound", measurement.bound},
               {"terms_ns", terms},
               {"occupancy",
                {{"blocks_per_sm", occupancy.blocks_per_sm},
                 {"warps_per_sm", occupancy.warps_per_sm},
                 {"limited_by", occupancy.limited_by}}},
               {"blocks_sampled", measurement.blocks_sampled},
               {"blocks", measurement.blocks},
               {"counters", counters_json(measurement.counters)},
               {"spread", finite(measurement.spread, "spread")}};
  if (measurement.by_line) json["by_line"] = json_of(*measurement.by_line);
  return json;
}

}  // namespace

Json counters_json(const Counters& counters) {
  Json by_pipe = Json::object();
  for (std::size_t pipe = 0; pipe < kPipes; ++pipe) {
    by_pipe[cudaopt::name_of(static_cast<Pipe>(pipe))] = counters.warp_instructions[pipe];
  }
  return {{"blocks", counters.blocks},
          {"warps", counters.warps},
          {"threads", counters.threads},
          {"warp_instructions", by_pipe},
          {"lane_instructions", counters.lane_instructions},
          {"divergent_branches", counters.divergent_branches},
          {"barriers", counters.barriers},
          {"global_load_requests", counters.global_load_requests},
          {"global_load_sectors", counters.global_load_sectors},
          {"global_store_requests", counters.global_store_requests},
          {"global_store_sectors", counters.global_store_sectors},
          {"shared_requests", counters.shared_requests},
          {"shared_wavefronts", counters.shared_wavefronts},
          {"local_requests", counters.local_requests},
          {"atomic_requests", counters.atomic_requests},
          {"atomic_serializations", counters.atomic_serializations},
          {"max_block_instructions", counters.max_block_instructions}};
}

Json members_of(const Measurement& measurement) {
  if (measurement.kind == Measurement::Kind::modelled) {
    return {{"kind", "modelled"}, {"latency", modelled_latency(measurement)}};
  }
  return {{"kind", "measured"},
          {"latency", measured_latency(measurement.timing.value(), measurement.median_ns)}};
}

// Every arm of a batch has the same number of launches between two events.
Json members_of(const InterleavedTiming& timing) {
  Json arms = Json::array();
  for (const Sampling& arm : timing.arms) arms.push_back(json_of(arm));
  Json json = {{"kind", "measured"}, {"mode", name_of(timing.mode)}, {"arms", arms}};
  if (timing.mode == SamplingMode::batch) json["launches"] = timing.arms.front().launches;
  json["sm_clock_mhz"] = json_of(timing.sm_clock_mhz, "an SM clock");
  return json;
}

}  // namespace cudaopt::protocol
