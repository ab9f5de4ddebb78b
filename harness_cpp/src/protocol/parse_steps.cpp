// One function per step of PROTOCOL.md's table.
#include "protocol/parse_steps.hpp"

#include "protocol/declared.hpp"
#include "protocol/parse_launch.hpp"
#include "protocol/parse_measure.hpp"

namespace cudaopt::protocol {
namespace {

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
    reset,
    launch,
    read,
    read_guards,
    read_shadow,
    digest,
    compare_digest,
    measure,
    interleave,
    limits,
  };

  Step parse_kind() {
    const auto kind = static_cast<Kind>(
        m_object.need("do").one_of({"compile", "load", "reload", "fill", "copy", "write", "reset",
                                    "launch", "read", "read_guards", "read_shadow", "digest",
                                    "compare_digest", "measure", "interleave", "limits"}));
    switch (kind) {
      case compile:
        return CompileStep{module()};
      case load:
        return LoadStep{module(), false};
      case reload:
        return LoadStep{module(), true};
      case fill:
        return FillStep{buffer("buffer").name, pattern(m_object.need("pattern"))};
      case copy:
        return copy_step();
      case write:
        return WriteStep{buffer("buffer").name, m_object.need("file").nonempty_text()};
      case reset:
        return reset_step();
      case launch:
        return LaunchStep{parse_launch(m_object, m_request)};
      case read:
        return read_step();
      case read_guards:
        return ReadGuardsStep{buffer("buffer").name};
      case read_shadow:
        return read_shadow_step();
      case digest:
        return DigestStep{buffer("buffer").name};
      case compare_digest:
        return CompareDigestStep{buffer("buffer").name, sha256()};
      case measure:
        return parse_measure(m_object, m_request);
      case interleave:
        return parse_interleave(m_object, m_request);
      case limits:
        return LimitsStep{};
    }
    return LimitsStep{};
  }

  std::string module() { return module_named(m_object.need("module"), m_request); }

  const BufferSpec& buffer(const std::string& key) {
    return buffer_named(m_object.need(key), m_request);
  }

  static std::vector<std::uint8_t> pattern(const Value& value) {
    auto bytes = value.hex();
    if (bytes.empty()) value.reject("at least one byte of pattern");
    return bytes;
  }

  Step reset_step() {
    const auto poison = m_object.find("poison");
    if (!poison) return ResetStep{};
    return ResetStep{pattern(*poison)};
  }

  Step read_step() {
    ReadStep step{buffer("buffer").name, output_file(m_object.need("file"), m_request)};
    if (const auto asked = m_object.find("if_changed")) step.if_changed = asked->boolean();
    return step;
  }

  Step read_shadow_step() {
    static const std::vector<std::string> kDtypes = {"f16", "bf16", "f32", "f64"};
    const std::string name = buffer("buffer").name;
    const std::string dtype = kDtypes[m_object.need("dtype").one_of(kDtypes)];
    return ReadShadowStep{name, dtype, output_file(m_object.need("values_file"), m_request),
                          output_file(m_object.need("states_file"), m_request)};
  }

  std::string sha256() {
    const Value value = m_object.need("sha256");
    std::string text = value.text();
    if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
      value.reject("64 lower-case hexadecimal digits");
    }
    return text;
  }

  Step copy_step() {
    const BufferSpec& from = buffer("from");
    const Value to_value = m_object.need("to");
    const BufferSpec& to = buffer_named(to_value, m_request);
    if (from.bytes != to.bytes) {
      to_value.reject("a buffer of " + std::to_string(from.bytes) + " bytes, as \"" + from.name +
                      "\" is; this one has " + std::to_string(to.bytes));
    }
    return CopyStep{from.name, to.name};
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
