// Generated assertions about structs and variables, and what their failures mean. That a compiler
// accepts and refuses them as meant is tested through the whole program, in
// tests/test_protocol_compile.py.
#include "check.hpp"
#include "compile/layout_check.hpp"

using namespace cudaopt;
using namespace cudaopt::compile;

namespace {

protocol::ModuleSpec declared() {
  protocol::ModuleSpec spec;
  spec.file = "k.cu";
  spec.structs = {{"ns::P", 16, {{"q", 0, {"const float*", "float*"}}, {"n", 8, {"int"}}}}};
  spec.symbols = {{"taps", {"float"}}};
  return spec;
}

const std::string kSource =
    "struct P;\n"
    "namespace ns { struct P { float* q; int n; }; }\n"
    "__constant__ float taps[4];\n";

Diagnostic at_line(int line, const std::string& text) {
  return {"cudaopt layout", line, 0, "error", text};
}

Diagnostic failed(int line, const std::string& got) {
  return at_line(line,
                 "static assertion failed with \"\"\ndetected during instantiation of class "
                 "\"cudaopt_layout_check::cudaopt_number_0_1<cudaopt_got> [with cudaopt_got=" +
                     got + "]\" at line 10001");
}

std::vector<std::string> texts_of(const std::vector<Diagnostic>& errors) {
  std::vector<std::string> texts;
  for (const Diagnostic& error : errors) texts.push_back(error.text);
  return texts;
}

}  // namespace

TEST("nothing is appended where no struct and no variable is declared") {
  CHECK_EQUAL(std::string(), layout_check({}));
}

TEST("the appended text starts on a line of its own and asks for sizes, places and types") {
  const std::string text = layout_check(declared());
  CHECK_EQUAL(0u, text.find("\n\n#line 1 \"cudaopt layout\"\n"));
  for (const char* part :
       {"using cudaopt_struct_0 = ns::P;", "sizeof(cudaopt_struct_0)",
        "__INTADDR__(&((cudaopt_struct_0*)0)->n)", "decltype(cudaopt_struct_0::q)",
        "using cudaopt_variable_1 = decltype(taps);"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find("static constexpr") == std::string::npos);  // which would be in the program
}

TEST("failed assertions become one sentence about the struct, at its line") {
  const auto errors = layout_errors({failed(10001, "24UL"), failed(10003, "double *"),
                                     failed(10004, "12UL"), failed(10004, "12UL")},
                                    declared(), kSource);
  CHECK_EQUAL(1u, errors.size());
  CHECK_EQUAL(std::string("cudaopt layout: struct 'ns::P' is not as declared: it has 24 bytes, "
                          "expected 16; member 'q' is 'double *', expected 'const float*' or "
                          "'float*'; member 'n' is at byte 12, expected 8"),
              errors[0].text);
  CHECK_EQUAL(1, errors[0].line);
  CHECK_EQUAL(std::string("k.cu"), errors[0].file);
}

TEST("elements of another type are said of the variable, at its line") {
  const auto errors = layout_errors({failed(20001, "int")}, declared(), kSource);
  CHECK_EQUAL(1u, errors.size());
  CHECK_EQUAL(std::string("cudaopt layout: variable 'taps' is not as declared: its elements are "
                          "'int', expected 'float'"),
              errors[0].text);
  CHECK_EQUAL(3, errors[0].line);
}

TEST("of a name that is not there nothing else is said, and of a missing member only once") {
  const std::string missing = "namespace \"ns\" has no member \"P\"";
  CHECK(
      (std::vector<std::string>{"cudaopt layout: struct 'ns::P' is not as declared: " + missing}) ==
      texts_of(layout_errors({at_line(10000, missing), failed(10001, "1UL")}, declared(), "")));
  const std::string no_member = "class \"ns::P\" has no member \"n\"";
  const auto errors =
      layout_errors({at_line(10004, no_member), at_line(10005, no_member)}, declared(), "");
  CHECK((std::vector<std::string>{"cudaopt layout: struct 'ns::P' is not as declared: " +
                                  no_member}) == texts_of(errors));
  CHECK_EQUAL(0, errors[0].line);
}

TEST("messages about the user's own text are no errors of a layout") {
  CHECK(layout_errors({{"k.cu", 10001, 0, "error", "e"}}, declared(), kSource).empty());
}
