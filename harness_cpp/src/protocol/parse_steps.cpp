// One function per step of PROTOCOL.md's table.
#include "protocol/parse_steps.hpp"

#include <algorithm>

namespace cudaopt::protocol {
namespace {

constexpr std::uint64_t kAny32 = 0xffffffffu;
constexpr std::uint64_t kMostSamples = 1000000;

struct ScalarType {
  const char* name;
  std::size_t bytes;
};
constexpr ScalarType kScalarTypes[] = {{"bool", 1}, {"i8", 1},     {"u8", 1},    {"i16", 2},
                                       {"u16", 2},  {"i32", 4},    {"u32", 4},   {"i64", 8},
                                       {"u64", 8},  {"f16", 2},    {"bf16", 2},  {"f32", 4},
                                       {"f64", 8},  {"f8e4m3", 1}, {"f8e5m2", 1}};

class StepParser {
 public:
  StepParser(Object object, const Request& request)
      : m_object(std::move(object)), m_request(request) {}

  Step parse() {
    Step step = parse_kind();
    m_object.reject_unknown_keys();
    return step;
  }

 private:
  enum Kind : std::size_t {
    compile,
    load,
    reload,
    fill,
    copy,
    write,
    launch,
    read,
    read_guards,
    digest,
    compare_digest,
    measure,
    limits,
  };

  Step parse_kind() {
    const auto kind = static_cast<Kind>(m_object.need("do").one_of(
        {"compile", "load", "reload", "fill", "copy", "write", "launch", "read", "read_guards",
         "digest", "compare_digest", "measure", "limits"}));
    switch (kind) {
      case compile:
        return CompileStep{module()};
      case load:
        return LoadStep{module(), false};
      case reload:
        return LoadStep{module(), true};
      case fill:
        return FillStep{buffer("buffer").name, pattern()};
      case copy:
        return copy_step();
      case write:
        return WriteStep{buffer("buffer").name, m_object.need("file").nonempty_text()};
      case launch:
        return LaunchStep{launch_spec()};
      case read:
        return ReadStep{buffer("buffer").name, output_file()};
      case read_guards:
        return ReadGuardsStep{buffer("buffer").name};
      case digest:
        return DigestStep{buffer("buffer").name};
      case compare_digest:
        return CompareDigestStep{buffer("buffer").name, sha256()};
      case measure:
        return measure_step();
      case limits:
        return LimitsStep{};
    }
    return LimitsStep{};
  }

  std::string module() {
    const Value value = m_object.need("module");
    const std::string name = value.text();
    for (const ModuleSpec& declared : m_request.modules) {
      if (declared.name == name) return name;
    }
    value.reject("the name of a module", "Declare it in request.modules.");
  }

  const BufferSpec& declared_buffer(const Value& value) const {
    const std::string name = value.text();
    for (const BufferEntry& declared : m_request.buffers) {
      if (declared.spec.name == name) return declared.spec;
    }
    value.reject("the name of a buffer", "Declare it in request.buffers.");
  }

  const BufferSpec& buffer(const std::string& key) { return declared_buffer(m_object.need(key)); }

  std::vector<std::uint8_t> pattern() {
    const Value value = m_object.need("pattern");
    auto bytes = value.hex();
    if (bytes.empty()) value.reject("at least one byte of pattern");
    return bytes;
  }

  std::string sha256() {
    const Value value = m_object.need("sha256");
    std::string text = value.text();
    if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
      value.reject("64 lower-case hexadecimal digits");
    }
    return text;
  }

  // A stale or foreign file must never pass for this request's output.
  std::string output_file() {
    const Value value = m_object.need("file");
    std::string name = value.nonempty_text();
    if (name.find(m_request.nonce) == std::string::npos) {
      value.reject("a file name that contains the nonce \"" + m_request.nonce + "\"");
    }
    return name;
  }

  Step copy_step() {
    const BufferSpec& from = buffer("from");
    const Value to_value = m_object.need("to");
    const BufferSpec& to = declared_buffer(to_value);
    if (from.bytes != to.bytes) {
      to_value.reject("a buffer of " + std::to_string(from.bytes) + " bytes, as \"" + from.name +
                      "\" is; this one has " + std::to_string(to.bytes));
    }
    return CopyStep{from.name, to.name};
  }

  Step measure_step() {
    MeasureStep step{launch_spec(), {}};
    if (const auto warmup = m_object.find("warmup")) {
      step.how.warmup = static_cast<int>(warmup->natural(kMostSamples));
    }
    if (const auto samples = m_object.find("samples")) {
      step.how.samples = static_cast<int>(samples->natural(kMostSamples));
      if (step.how.samples == 0) samples->reject("at least 1 sample");
    }
    return step;
  }

  LaunchSpec launch_spec() {
    LaunchSpec spec;
    spec.module = module();
    spec.entry = m_object.need("entry").nonempty_text();
    spec.grid = extents("grid");
    spec.block = extents("block");
    if (const auto shared = m_object.find("shared_bytes")) {
      spec.shared_bytes = static_cast<std::uint32_t>(shared->natural(kAny32));
    }
    for (const Value& value : m_object.need("arguments").array()) {
      spec.arguments.push_back(argument(value.object()));
    }
    return spec;
  }

  Dim3 extents(const std::string& key) {
    const Value value = m_object.need(key);
    const std::vector<Value> parts = value.array();
    if (parts.size() != 3) value.reject("three integers [x, y, z]");
    const auto part = [&](std::size_t i) {
      return static_cast<std::uint32_t>(parts[i].natural(kAny32));
    };
    return {part(0), part(1), part(2)};
  }

  Argument argument(Object object) const {
    Argument argument;
    const auto buffer = object.find("buffer");
    const auto null = object.find("null");
    const auto scalar = object.find("scalar");
    if ((buffer ? 1 : 0) + (null ? 1 : 0) + (scalar ? 1 : 0) != 1) {
      throw Fault(FaultKind::invalid_request,
                  object.path() + ": expected exactly one of \"buffer\", \"null\" and \"scalar\".");
    }
    if (buffer) {
      argument.kind = Argument::Kind::buffer;
      argument.buffer = declared_buffer(*buffer).name;
    } else if (null) {
      if (!null->boolean()) null->reject("true");
    } else {
      read_scalar(*scalar, object.need("value"), argument);
    }
    object.reject_unknown_keys();
    return argument;
  }

  static void read_scalar(const Value& dtype, const Value& value, Argument& argument) {
    std::vector<std::string> names;
    for (const ScalarType& type : kScalarTypes) names.emplace_back(type.name);
    const ScalarType& type = kScalarTypes[dtype.one_of(names)];
    argument.kind = Argument::Kind::scalar;
    argument.dtype = type.name;
    argument.bytes = value.hex();
    if (argument.bytes.size() != type.bytes) {
      value.reject(std::to_string(2 * type.bytes) + " hexadecimal digits for " + type.name);
    }
  }

  Object m_object;
  const Request& m_request;
};

}  // namespace

std::vector<Step> parse_steps(const Value& steps, const Request& request) {
  std::vector<Step> parsed;
  for (const Value& step : steps.array()) {
    parsed.push_back(StepParser(step.object(), request).parse());
  }
  return parsed;
}

}  // namespace cudaopt::protocol
