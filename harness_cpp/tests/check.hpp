// A test is a sentence and a body; a failed check names its file, line and both values.
#pragma once

#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct Test {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Test>& all() {
  static std::vector<Test> tests;
  return tests;
}

struct Registration {
  Registration(std::string name, std::function<void()> body) {
    all().push_back({std::move(name), std::move(body)});
  }
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class A, class B>
void equal(const A& expected, const B& got, const char* file, int line) {
  if (expected == got) return;
  std::ostringstream message;
  message << file << ":" << line << ": expected " << expected << ", got " << got;
  throw Failure(message.str());
}

}  // namespace check

#define CHECK_JOIN2(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN2(a, b)
#define TEST(name)                                                           \
  static void CHECK_JOIN(test_body_, __LINE__)();                            \
  static const check::Registration CHECK_JOIN(test_registration_, __LINE__)( \
      name, CHECK_JOIN(test_body_, __LINE__));                               \
  static void CHECK_JOIN(test_body_, __LINE__)()
#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition))                                                               \
      throw check::Failure(std::string(__FILE__) + ":" + std::to_string(__LINE__) + \
                           ": " #condition);                                        \
  } while (false)
#define CHECK_EQUAL(expected, got) check::equal((expected), (got), __FILE__, __LINE__)
#define CHECK_THROWS(type, expression)                                              \
  do {                                                                              \
    bool thrown = false;                                                            \
    try {                                                                           \
      (void)(expression);                                                           \
    } catch (const type&) {                                                         \
      thrown = true;                                                                \
    }                                                                               \
    if (!thrown)                                                                    \
      throw check::Failure(std::string(__FILE__) + ":" + std::to_string(__LINE__) + \
                           ": no " #type);                                          \
  } while (false)
