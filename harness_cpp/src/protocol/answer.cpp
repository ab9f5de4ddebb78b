// Answers to JSON, keys in PROTOCOL.md's order.
#include "protocol/answer.hpp"

#include <nlohmann/json.hpp>

#include "isa.hpp"
#include "model_digest.hpp"
#include "protocol/answer_latency.hpp"
#include "protocol/request.hpp"

namespace cudaopt::protocol {
namespace {

using Json = nlohmann::ordered_json;

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

Json json_of(const GpuFacts& gpu) {
  return {{"uuid", gpu.uuid},
          {"driver", {gpu.driver_major, gpu.driver_minor}},
          {"memory_bytes", gpu.memory_bytes},
          {"free_bytes", gpu.free_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"sm_clock_mhz", gpu.sm_clock_mhz},
          {"memory_clock_mhz", gpu.memory_clock_mhz},
          {"memory_bus_bits", gpu.memory_bus_bits},
          {"guard_pages", gpu.guard_pages}};
}

Json json_of(const DeviceLimits& limits) {
  Json json = {{"name", limits.name},
               {"architecture", limits.architecture},
               {"multiprocessors", limits.multiprocessors},
               {"warp_size", limits.warp_size},
               {"max_threads_per_block", limits.max_threads_per_block},
               {"max_shared_bytes", limits.max_shared_bytes},
               {"max_grid", json_of(limits.max_grid)},
               {"max_block", json_of(limits.max_block)}};
  if (limits.gpu) json["gpu"] = json_of(*limits.gpu);
  return json;
}

void add_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

void add_place(Json& json, const std::optional<SourcePoint>& at,
               const std::vector<SourcePoint>& inlined_from) {
  if (at) {
    json["file"] = at->file;
    json["line"] = at->line;
  }
  for (const SourcePoint& point : inlined_from) {
    json["inlined_from"].push_back({{"file", point.file}, {"line", point.line}});
  }
}

void add_thread(Json& json, const std::optional<Dim3>& block, const std::optional<Dim3>& thread) {
  if (block) json["block"] = json_of(*block);
  if (thread) json["thread"] = json_of(*thread);
}

void add_findings(Json& json, const std::vector<Finding>& findings);

Json json_of(const FaultDetail& detail, const std::optional<std::size_t>& step) {
  Json json = {{"kind", cudaopt::name_of(detail.kind)}};
  if (step) json["step"] = *step;
  json["message"] = detail.message;
  add_place(json, detail.at, detail.inlined_from);
  add_text(json, "instruction", detail.instruction);
  add_text(json, "buffer", detail.buffer);
  if (detail.element) json["element"] = *detail.element;
  if (detail.elements) json["elements"] = *detail.elements;
  if (detail.bytes) json["bytes"] = *detail.bytes;
  add_text(json, "access", detail.access);
  add_text(json, "space", detail.space);
  add_thread(json, detail.block, detail.thread);
  if (!detail.diagnostics.empty()) json["diagnostics"] = json_of(detail.diagnostics);
  if (detail.findings != nullptr) add_findings(json, *detail.findings);
  add_text(json, "printed", detail.printed);
  return json;
}

Json json_of(const OtherParty& other) {
  Json json = {{"access", other.access}};
  add_place(json, other.at, other.inlined_from);
  add_thread(json, other.block, other.thread);
  return json;
}

Json json_of(const Finding& finding) {
  Json json = json_of(finding.what, std::nullopt);
  if (finding.other) json["other"] = json_of(*finding.other);
  json["times"] = finding.times;
  return json;
}

// As text, because JSON has no infinity.
std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

Json json_of(const RoundingLoss& loss) {
  Json json = {{"mean_growth", loss.mean_growth},
               {"growth", loss.growth},
               {"value", number_text(loss.value)},
               {"shadow", number_text(loss.shadow)}};
  add_place(json, loss.where.at, loss.where.inlined_from);
  add_text(json, "instruction", loss.where.instruction);
  add_thread(json, loss.where.block, loss.where.thread);
  return json;
}

void add_findings(Json& json, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) json["findings"].push_back(json_of(finding));
}

Json json_of(const LaunchReport& report) {
  Json json = {{"do", "launch"}};
  if (report.counters) json["counters"] = counters_json(*report.counters);
  add_findings(json, report.findings);
  if (report.touched_bytes) json["touched_bytes"] = *report.touched_bytes;
  if (!report.notes.empty()) json["notes"] = report.notes;
  add_text(json, "printed", report.printed);
  if (report.rounding) json["rounding"] = json_of(*report.rounding);
  return json;
}

// {"do": DO}, then `members`.
Json step_json(const char* what, const Json& members) {
  Json json = {{"do", what}};
  json.update(members);
  return json;
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
  Json operator()(const ResetAnswer&) const { return {{"do", "reset"}}; }
  Json operator()(const LaunchAnswer& answer) const { return json_of(answer.report); }
  Json operator()(const ReadAnswer& answer) const {
    Json json = {{"do", "read"}, {"bytes", answer.bytes}};
    if (answer.changed) json["changed"] = *answer.changed;
    return json;
  }
  Json operator()(const ReadGuardsAnswer& answer) const {
    return {{"do", "read_guards"}, {"intact", answer.intact}};
  }
  Json operator()(const ReadShadowAnswer& answer) const {
    return {{"do", "read_shadow"}, {"elements", answer.elements}};
  }
  Json operator()(const DigestAnswer& answer) const {
    return {{"do", "digest"}, {"sha256", answer.sha256}};
  }
  Json operator()(const CompareDigestAnswer& answer) const {
    return {{"do", "compare_digest"}, {"equal", answer.equal}};
  }
  Json operator()(const MeasureAnswer& answer) const {
    return step_json("measure", members_of(answer.measurement));
  }
  Json operator()(const InterleaveAnswer& answer) const {
    return step_json("interleave", members_of(answer.timing));
  }
  Json operator()(const LimitsAnswer& answer) const {
    return {{"do", "limits"}, {"limits", json_of(answer.limits)}};
  }
};

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
  if (answer.ending()) json["ending"] = true;
  if (answer.fault) json["fault"] = json_of(answer.fault->detail, answer.fault->step);
  return line_of(json);
}

std::string version_text() {
  return line_of({{"protocol", kProtocolVersion},
                  {"harness", CUDAOPT_VERSION},
                  {"model", cudaopt::model_digest()},
                  {"isa", cudaopt::name_of(host_isa())}});
}

}  // namespace cudaopt::protocol
