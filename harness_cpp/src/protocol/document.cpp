// nlohmann/json behind the strict reader.
#include "protocol/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "device.hpp"
#include "protocol/hex.hpp"

namespace cudaopt::protocol {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestExcerpt = 60;

[[noreturn]] void invalid(const std::string& message) {
  throw Fault(FaultKind::invalid_request, message);
}

std::string excerpt_of(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kLongestExcerpt) text = text.substr(0, kLongestExcerpt) + "...";
  return text;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "\"" : ", \"") + word + "\"";
  return list;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string suggestion_for(const std::string& key, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(
      known.begin(), known.end(),
      [&](const auto& a, const auto& b) { return edit_distance(key, a) < edit_distance(key, b); });
  if (nearest != known.end() && edit_distance(key, *nearest) <= 2) {
    return "Did you mean \"" + *nearest + "\"?";
  }
  return "Known keys: " + quoted_list(known) + ".";
}

// The parser keeps the last of two equal keys; a request that says a thing twice is a mistake.
class DuplicateKeys {
 public:
  bool operator()(int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) m_open.emplace_back();
    if (event == json::parse_event_t::object_end) m_open.pop_back();
    if (event == json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!m_open.back().insert(key).second) {
        invalid("request: the key \"" + key + "\" occurs twice in one object. Keep one of them.");
      }
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> m_open;
};

std::unique_ptr<const json> parsed(const std::string& text, const std::string& name) {
  try {
    DuplicateKeys duplicates;
    return std::make_unique<const json>(json::parse(text, std::ref(duplicates)));
  } catch (const json::exception& error) {
    invalid(name + ": expected JSON, got text that is not: " + error.what() +
            ". Numbers must be finite; scalars travel as hexadecimal bytes.");
  }
}

}  // namespace

void Value::reject(const std::string& expected, const std::string& next_step) const {
  invalid(m_path + ": expected " + expected + ", got " + excerpt_of(*m_json) + "." +
          (next_step.empty() ? "" : " " + next_step));
}

std::string Value::text() const {
  if (!m_json->is_string()) reject("a string");
  return m_json->get<std::string>();
}

std::string Value::nonempty_text() const {
  std::string value = text();
  if (value.empty()) reject("a string that is not empty");
  return value;
}

std::uint64_t Value::natural(std::uint64_t maximum) const {
  const bool fits = m_json->is_number_unsigned() && m_json->get<std::uint64_t>() <= maximum;
  if (!fits) reject("an integer from 0 to " + std::to_string(maximum));
  return m_json->get<std::uint64_t>();
}

double Value::number_at_least(double minimum) const {
  if (!m_json->is_number() || m_json->get<double>() < minimum) {
    reject("a number of at least " + json(minimum).dump());
  }
  return m_json->get<double>();
}

bool Value::boolean() const {
  if (!m_json->is_boolean()) reject("true or false");
  return m_json->get<bool>();
}

std::vector<std::uint8_t> Value::hex() const {
  const auto bytes = bytes_of(text());
  if (!bytes) reject("hexadecimal digits, two per byte");
  return *bytes;
}

std::size_t Value::one_of(const std::vector<std::string>& words) const {
  const std::string word = text();
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    const std::string next_step = suggestion_for(word, words);
    reject("one of " + quoted_list(words),
           next_step.rfind("Did", 0) == 0 ? next_step : "Use one of them.");
  }
  return static_cast<std::size_t>(found - words.begin());
}

Object Value::object() const {
  if (!m_json->is_object()) reject("an object");
  return {*m_json, m_path};
}

std::vector<Value> Value::array() const {
  if (!m_json->is_array()) reject("an array");
  std::vector<Value> values;
  for (std::size_t i = 0; i < m_json->size(); ++i) {
    values.emplace_back((*m_json)[i], m_path + "[" + std::to_string(i) + "]");
  }
  return values;
}

std::vector<std::pair<std::string, Value>> Value::pairs() const {
  if (!m_json->is_object()) reject("an object");
  std::vector<std::pair<std::string, Value>> pairs;
  for (const auto& [key, value] : m_json->items()) {
    pairs.emplace_back(key, Value(value, m_path + "[\"" + key + "\"]"));
  }
  return pairs;
}

Value Object::need(const std::string& key) {
  auto value = find(key);
  if (!value) invalid(m_path + ": the key \"" + key + "\" is missing. Add it.");
  return *value;
}

std::optional<Value> Object::find(const std::string& key) {
  m_known.push_back(key);
  const auto found = m_json->find(key);
  if (found == m_json->end()) return std::nullopt;
  return Value(*found, m_path + "." + key);
}

void Object::reject_unknown_keys() const {
  for (const auto& [key, value] : m_json->items()) {
    if (std::find(m_known.begin(), m_known.end(), key) == m_known.end()) {
      invalid(m_path + ": unknown key \"" + key + "\". " + suggestion_for(key, m_known));
    }
  }
}

Document::Document(const std::string& text, std::string name)
    : m_json(parsed(text, name)), m_name(std::move(name)) {}

Document::~Document() = default;

Object Document::root() const { return Value(*m_json, m_name).object(); }

std::string Document::text_if_any(const std::string& key) const {
  if (!m_json->is_object()) return "";
  const auto found = m_json->find(key);
  return found != m_json->end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace cudaopt::protocol
