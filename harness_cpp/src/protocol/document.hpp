// A JSON text read strictly: every value is asked for by type, and a key nobody asked for is an
// error. Faults are of kind invalid_request and name the JSON path, what was expected, what was
// found, and what to do. Knows nothing of what a request means.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudaopt::protocol {

class Object;

// One value and the path that leads to it. Valid while its Document lives.
class Value {
 public:
  Value(const nlohmann::json& json, std::string path) : m_json(&json), m_path(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string nonempty_text() const;
  [[nodiscard]] std::uint64_t natural(std::uint64_t maximum) const;
  [[nodiscard]] double number_at_least(double minimum) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::vector<std::uint8_t> hex() const;
  // One of `words`, as its index.
  [[nodiscard]] std::size_t one_of(const std::vector<std::string>& words) const;
  [[nodiscard]] Object object() const;
  [[nodiscard]] std::vector<Value> array() const;
  // The pairs of an object whose keys are names the user chose, in key order.
  [[nodiscard]] std::vector<std::pair<std::string, Value>> pairs() const;

  // Throws: "PATH: expected EXPECTED, got VALUE. NEXT".
  [[noreturn]] void reject(const std::string& expected, const std::string& next_step = "") const;

 private:
  const nlohmann::json* m_json;
  std::string m_path;
};

// An object whose keys the protocol fixes.
class Object {
 public:
  Object(const nlohmann::json& json, std::string path) : m_json(&json), m_path(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] Value need(const std::string& key);
  [[nodiscard]] std::optional<Value> find(const std::string& key);
  // To be called after the last `need` and `find`: rejects every key none of them named.
  void reject_unknown_keys() const;

 private:
  const nlohmann::json* m_json;
  std::string m_path;
  std::vector<std::string> m_known;
};

class Document {
 public:
  // `name` starts every path: "request".
  Document(const std::string& text, std::string name);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document();

  [[nodiscard]] Object root() const;
  // A text at the top, or "" where there is none: for echoing, even when the rest is invalid.
  [[nodiscard]] std::string text_if_any(const std::string& key) const;

 private:
  std::unique_ptr<const nlohmann::json> m_json;
  std::string m_name;
};

}  // namespace cudaopt::protocol
