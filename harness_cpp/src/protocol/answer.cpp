// Answers to JSON, keys in PROTOCOL.md's order.
#include "protocol/answer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "isa.hpp"
#include "protocol/request.hpp"

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

const char* name_of(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::fault:
      return "fault";
    case Status::invalid:
      return "invalid";
  }
  return "invalid";
}

Json json_of(const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

Json json_of(const Diagnostic& diagnostic) {
  return {{"file", diagnostic.file},
          {"line", diagnostic.line},
          {"column", diagnostic.column},
          {"severity", diagnostic.severity},
          {"text", diagnostic.text}};
}

Json json_of(const std::vector<Diagnostic>& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) list.push_back(json_of(diagnostic));
  return list;
}

Json json_of(const Resources& resources) {
  return {{"registers", resources.registers},
          {"spill_store_bytes", resources.spill_store_bytes},
          {"spill_load_bytes", resources.spill_load_bytes},
          {"static_shared_bytes", resources.static_shared_bytes},
          {"stack_bytes", resources.stack_bytes},
          {"constant_bytes", resources.constant_bytes}};
}

Json json_of(const std::map<std::string, Resources>& resources) {
  Json object = Json::object();
  for (const auto& [entry, used] : resources) object[entry] = json_of(used);
  return object;
}

Json json_of(const Counters& counters) {
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

Json measured_latency(const Measurement& measurement) {
  Json samples = Json::array();
  for (const double sample : measurement.samples_ns) samples.push_back(finite(sample, "a sample"));
  return {{"median_ns", finite(measurement.median_ns, "median_ns")}, {"samples_ns", samples}};
}

Json modelled_latency(const Measurement& measurement) {
  Json terms = Json::object();
  for (const auto& [name, term_ns] : measurement.terms_ns) {
    terms[name] = finite(term_ns, name.c_str());
  }
  const Occupancy& occupancy = measurement.occupancy;
  return {{"median_ns", finite(measurement.median_ns, "median_ns")},
          {"bound", measurement.bound},
          {"terms_ns", terms},
          {"occupancy",
           {{"blocks_per_sm", occupancy.blocks_per_sm},
            {"warps_per_sm", occupancy.warps_per_sm},
            {"limited_by", occupancy.limited_by}}},
          {"blocks_sampled", measurement.blocks_sampled},
          {"blocks", measurement.blocks},
          {"counters", json_of(measurement.counters)},
          {"spread", finite(measurement.spread, "spread")}};
}

Json json_of(const DeviceLimits& limits) {
  return {{"name", limits.name},
          {"architecture", limits.architecture},
          {"multiprocessors", limits.multiprocessors},
          {"warp_size", limits.warp_size},
          {"max_threads_per_block", limits.max_threads_per_block},
          {"max_shared_bytes", limits.max_shared_bytes},
          {"max_grid", json_of(limits.max_grid)},
          {"max_block", json_of(limits.max_block)}};
}

struct StepToJson {
  Json operator()(const CompileAnswer& answer) const {
    return {{"do", "compile"},
            {"diagnostics", json_of(answer.diagnostics)},
            {"resources", json_of(answer.resources)},
            {"lowered", answer.lowered},
            {"cubin_sha256", answer.cubin_sha256}};
  }
  Json operator()(const LoadAnswer& answer) const {
    return {{"do", answer.again ? "reload" : "load"}, {"notes", answer.notes}};
  }
  Json operator()(const FillAnswer&) const { return {{"do", "fill"}}; }
  Json operator()(const CopyAnswer&) const { return {{"do", "copy"}}; }
  Json operator()(const WriteAnswer&) const { return {{"do", "write"}}; }
  Json operator()(const LaunchAnswer& answer) const {
    Json json = {{"do", "launch"}};
    if (answer.report.counters) json["counters"] = json_of(*answer.report.counters);
    return json;
  }
  Json operator()(const ReadAnswer& answer) const {
    return {{"do", "read"}, {"bytes", answer.bytes}};
  }
  Json operator()(const ReadGuardsAnswer& answer) const {
    return {{"do", "read_guards"}, {"intact", answer.intact}};
  }
  Json operator()(const DigestAnswer& answer) const {
    return {{"do", "digest"}, {"sha256", answer.sha256}};
  }
  Json operator()(const CompareDigestAnswer& answer) const {
    return {{"do", "compare_digest"}, {"equal", answer.equal}};
  }
  Json operator()(const MeasureAnswer& answer) const {
    const Measurement& measurement = answer.measurement;
    const bool measured = measurement.kind == Measurement::Kind::measured;
    return {{"do", "measure"},
            {"kind", measured ? "measured" : "modelled"},
            {"latency", measured ? measured_latency(measurement) : modelled_latency(measurement)}};
  }
  Json operator()(const LimitsAnswer& answer) const {
    return {{"do", "limits"}, {"limits", json_of(answer.limits)}};
  }
};

void add_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

Json json_of(const FaultAnswer& fault) {
  const FaultDetail& detail = fault.detail;
  Json json = {{"kind", cudaopt::name_of(detail.kind)}};
  if (fault.step) json["step"] = *fault.step;
  json["message"] = detail.message;
  if (detail.at) {
    json["file"] = detail.at->file;
    json["line"] = detail.at->line;
  }
  for (const SourcePoint& point : detail.inlined_from) {
    json["inlined_from"].push_back({{"file", point.file}, {"line", point.line}});
  }
  add_text(json, "instruction", detail.instruction);
  add_text(json, "buffer", detail.buffer);
  if (detail.element) json["element"] = *detail.element;
  if (detail.elements) json["elements"] = *detail.elements;
  if (detail.bytes) json["bytes"] = *detail.bytes;
  add_text(json, "access", detail.access);
  add_text(json, "space", detail.space);
  if (detail.block) json["block"] = json_of(*detail.block);
  if (detail.thread) json["thread"] = json_of(*detail.thread);
  if (!detail.diagnostics.empty()) json["diagnostics"] = json_of(detail.diagnostics);
  return json;
}

// Compilers and kernels may quote bytes that are not UTF-8: those are replaced, not fatal.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Status Answer::status() const {
  if (!fault) return Status::ok;
  return fault->detail.kind == FaultKind::invalid_request ? Status::invalid : Status::fault;
}

std::string text_of(const Answer& answer) {
  Json json = {{"protocol", kProtocolVersion},
               {"id", answer.id},
               {"nonce", answer.nonce},
               {"status", name_of(answer.status())}};
  add_text(json, "device", answer.device);
  json["steps"] = Json::array();
  for (const StepAnswer& step : answer.steps)
    json["steps"].push_back(std::visit(StepToJson{}, step));
  if (answer.fault) json["fault"] = json_of(*answer.fault);
  return line_of(json);
}

std::string version_text() {
  return line_of({{"protocol", kProtocolVersion},
                  {"harness", CUDAOPT_VERSION},
                  {"isa", cudaopt::name_of(host_isa())}});
}

}  // namespace cudaopt::protocol
