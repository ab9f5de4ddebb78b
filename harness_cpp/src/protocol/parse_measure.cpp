#include "protocol/parse_measure.hpp"

#include <algorithm>

#include "protocol/declared.hpp"
#include "protocol/parse_launch.hpp"

namespace cudaopt::protocol {
namespace {

constexpr std::uint64_t kMostSamples = 1000000;
constexpr std::size_t kFewestArms = 2, kMostArms = 100;  // kMostSamples of each: still an int

// A count of at least 1.
void read_count(Object& step, const std::string& key, const std::string& noun, int& into) {
  const auto value = step.find(key);
  if (!value) return;
  into = static_cast<int>(value->natural(kMostSamples));
  if (into == 0) value->reject("at least 1 " + noun);
}

void read_warmup(Object& step, WarmupSpec& warmup) {
  if (const auto launches = step.find("warmup")) {
    warmup.launches = static_cast<int>(launches->natural(kMostSamples));
  }
  if (const auto ms = step.find("warmup_ms")) warmup.ms = ms->number_at_least(0);
}

void read_mode(Object& step, SamplingMode& mode) {
  constexpr SamplingMode kModes[] = {SamplingMode::automatic, SamplingMode::cold,
                                     SamplingMode::batch};
  if (const auto value = step.find("mode")) mode = kModes[value->one_of({"auto", "cold", "batch"})];
}

void read_stop_rule(Object& step, MeasureSpec& how) {
  read_count(step, "samples", "sample", how.samples);
  if (const auto error = step.find("relative_error")) {
    how.relative_error = error->number_at_least(0);
    if (how.relative_error >= 1) error->reject("a share of the median below 1, such as 0.005");
  }
  how.max_samples = std::max(how.max_samples, how.samples);
  if (const auto most = step.find("max_samples")) {
    how.max_samples = static_cast<int>(most->natural(kMostSamples));
    if (how.max_samples < how.samples) {
      most->reject("at least \"samples\", which is " + std::to_string(how.samples));
    }
  }
}

ContentFiles parse_contents(const Value& value, const Request& request) {
  ContentFiles files;
  for (const auto& [name, file] : value.pairs()) {
    const auto declared =
        std::find_if(request.buffers.begin(), request.buffers.end(),
                     [&](const BufferEntry& entry) { return entry.spec.name == name; });
    if (declared == request.buffers.end()) {
      value.reject("buffers by name; none is called \"" + name + "\"",
                   "Declare it in request.buffers.");
    }
    if (!declared->spec.alias.empty()) {
      value.reject("no contents of the alias \"" + name + "\"",
                   "Say them of the buffer that owns the memory.");
    }
    files[name] = file.nonempty_text();
  }
  return files;
}

void read_captures(Object& step, const Request& request, MeasureStep& measure) {
  const auto captures = step.find("capture");
  if (!captures) return;
  for (const Value& value : captures->array()) {
    Object object = value.object();
    const std::string buffer = buffer_named(object.need("buffer"), request).name;
    measure.capture.push_back(ReadStep{buffer, output_file(object.need("file"), request)});
    measure.how.capture.push_back(buffer);
    object.reject_unknown_keys();
  }
}

}  // namespace

MeasureStep parse_measure(Object& step, const Request& request) {
  MeasureStep measure;
  measure.launch = parse_launch(step, request);
  read_warmup(step, measure.how.warmup);
  read_stop_rule(step, measure.how);
  read_mode(step, measure.how.mode);
  if (const auto contents = step.find("contents")) {
    for (const Value& value : contents->array()) {
      measure.contents.push_back(parse_contents(value, request));
    }
  }
  if (const auto held_out = step.find("held_out")) {
    measure.held_out = parse_contents(*held_out, request);
  }
  read_captures(step, request, measure);
  if (const auto by_line = step.find("by_line")) measure.how.by_line = by_line->boolean();
  return measure;
}

InterleaveStep parse_interleave(Object& step, const Request& request) {
  InterleaveSpec spec;
  const Value arms = step.need("arms");
  for (const Value& value : arms.array()) {
    Object arm = value.object();
    spec.arms.push_back(parse_launch(arm, request));
    arm.reject_unknown_keys();
  }
  if (spec.arms.size() < kFewestArms) arms.reject("at least 2 launches to compare");
  if (spec.arms.size() > kMostArms) arms.reject("at most 100 launches to compare");
  read_count(step, "blocks", "block", spec.blocks);
  read_count(step, "launches", "launch", spec.launches);
  read_warmup(step, spec.warmup);
  read_mode(step, spec.mode);
  return {spec};
}

}  // namespace cudaopt::protocol
