// Reading JSON strictly: what is refused, and with which words.
#include "check.hpp"
#include "device.hpp"
#include "protocol/document.hpp"

using namespace cudaopt;
using protocol::Document;
using protocol::Object;

namespace {

template <class Body>
std::string refusal_of(const Body& body) {
  try {
    body();
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::invalid_request);
    return fault.what();
  }
  return "accepted";
}

std::string refused_text(const std::string& text) {
  return refusal_of([&] { const Document document(text, "request"); });
}

}  // namespace

TEST("values of the asked type are read") {
  const Document document(R"({"a": "text", "n": 7, "x": 0.5, "h": "00ff", "list": [1, 2]})",
                          "request");
  Object root = document.root();
  CHECK_EQUAL(std::string("text"), root.need("a").text());
  CHECK_EQUAL(7u, root.need("n").natural(10));
  CHECK_EQUAL(0.5, root.need("x").number_at_least(0));
  CHECK_EQUAL(255, root.need("h").hex().at(1));
  CHECK_EQUAL(std::string("request.list[1]"), root.need("list").array().at(1).path());
  CHECK(!root.find("absent"));
  root.reject_unknown_keys();
}

TEST("a misspelt key is refused and the nearest known one suggested") {
  const Document document(R"({"blok": 1})", "request");
  CHECK_EQUAL(std::string("request: unknown key \"blok\". Did you mean \"block\"?"),
              refusal_of([&] {
                Object root = document.root();
                (void)root.find("grid");
                (void)root.find("block");
                root.reject_unknown_keys();
              }));
}

TEST("a wrong type, range or word says the path, what was expected and what was found") {
  const Document document(R"({"n": -1, "big": 11, "t": 3, "w": "lanch", "h": "abc"})", "request");
  Object root = document.root();
  CHECK_EQUAL(std::string("request.n: expected an integer from 0 to 10, got -1."),
              refusal_of([&] { (void)root.need("n").natural(10); }));
  CHECK_EQUAL(std::string("request.big: expected an integer from 0 to 10, got 11."),
              refusal_of([&] { (void)root.need("big").natural(10); }));
  CHECK_EQUAL(std::string("request.t: expected a string, got 3."),
              refusal_of([&] { (void)root.need("t").text(); }));
  CHECK_EQUAL(std::string("request.w: expected one of \"load\", \"launch\", got \"lanch\". Did you "
                          "mean \"launch\"?"),
              refusal_of([&] { (void)root.need("w").one_of({"load", "launch"}); }));
  CHECK_EQUAL(std::string("request.h: expected hexadecimal digits, two per byte, got \"abc\"."),
              refusal_of([&] { (void)root.need("h").hex(); }));
  CHECK_EQUAL(std::string("request: the key \"steps\" is missing. Add it."),
              refusal_of([&] { (void)root.need("steps"); }));
}

TEST("text that is no JSON, a non-finite number and a key said twice are refused") {
  CHECK(refused_text("{").find("request: expected JSON") == 0);
  CHECK(refused_text(R"({"a": NaN})").find("request: expected JSON") == 0);
  CHECK(refused_text(R"({"a": 1e999})").find("request: expected JSON") == 0);
  CHECK(refused_text(R"({"a": {"b": 1, "b": 2}})").find("\"b\" occurs twice") != std::string::npos);
  CHECK_EQUAL(std::string("accepted"), refused_text(R"({"a": {"b": 1}, "c": {"b": 2}})"));
}

TEST("the texts to echo are found even where the rest is invalid") {
  CHECK_EQUAL(std::string("x"),
              Document(R"({"id": "x", "steps": 3})", "request").text_if_any("id"));
  CHECK_EQUAL(std::string(), Document(R"({"id": 7})", "request").text_if_any("id"));
  CHECK_EQUAL(std::string(), Document("[1]", "request").text_if_any("id"));
}
