// Logs as NVRTC 13.5 writes them.
#include "check.hpp"
#include "compile/diagnostics.hpp"

using namespace cudaopt;
using namespace cudaopt::compile;

TEST("file, line, column, severity and text of each message are read") {
  const auto found = parse_diagnostics(
      "dir/k.cu(2): warning #177-D: variable \"unused\" was declared but never referenced\n"
      "  __global__ void k() { int unused; }\n"
      "                            ^\n\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
      "dir/k.cu(7): error: identifier \"foo\" is undefined\n"
      "   foo(3);\n"
      "   ^\n\n"
      "2 errors detected in the compilation of \"dir/k.cu\".\n");
  CHECK_EQUAL(2u, found.size());
  CHECK_EQUAL(std::string("dir/k.cu"), found[0].file);
  CHECK_EQUAL(2, found[0].line);
  CHECK_EQUAL(27, found[0].column);
  CHECK_EQUAL(std::string("warning"), found[0].severity);
  CHECK_EQUAL(std::string("variable \"unused\" was declared but never referenced [#177-D]"),
              found[0].text);
  CHECK_EQUAL(7, found[1].line);
  CHECK_EQUAL(2, found[1].column);
  CHECK_EQUAL(std::string("identifier \"foo\" is undefined"), found[1].text);
}

TEST("lines before and after the quoted source belong to the text, and notes stand alone") {
  const auto found = parse_diagnostics(
      "k.cu(11): error: no instance of overloaded function \"f\" matches the argument list\n"
      "            argument types are: (const char [2])\n"
      "  \tf(\"x\");\n"
      "  \t^\n"
      "k.cu(9): note #3326-D: function \"f(int)\" does not match\n"
      "  __device__ int f(int);\n"
      "                 ^\n\n"
      "k.cu(7): error: expression must have class type\n"
      "  x.foo();\n"
      "  ^\n"
      "          detected during:\n"
      "            instantiation of \"T bad(T) [with T=float]\" at line 8\n\n");
  CHECK_EQUAL(3u, found.size());
  CHECK_EQUAL(std::string("no instance of overloaded function \"f\" matches the argument list\n"
                          "argument types are: (const char [2])"),
              found[0].text);
  CHECK_EQUAL(2, found[0].column);
  CHECK_EQUAL(std::string("note"), found[1].severity);
  CHECK_EQUAL(std::string("expression must have class type\ndetected during:\n"
                          "instantiation of \"T bad(T) [with T=float]\" at line 8"),
              found[2].text);
}

TEST("the end of the source, a missing header and a refused option are errors") {
  const auto found = parse_diagnostics(
      "At end of source: error: expected a \"}\"\n\n"
      "k.cu(6): catastrophic error: cannot open source file \"nothere.h\"\n"
      "  #include \"nothere.h\"\n"
      "                      ^\n\n"
      "1 catastrophic error detected in the compilation of \"k.cu\".\n"
      "Compilation terminated.\n"
      "nvrtc: error: unrecognized option -foo found\n");
  CHECK_EQUAL(3u, found.size());
  CHECK_EQUAL(std::string(kEndOfSource), found[0].file);
  CHECK_EQUAL(std::string("error"), found[1].severity);
  CHECK_EQUAL(6, found[1].line);
  CHECK_EQUAL(std::string("unrecognized option -foo found"), found[2].text);
  CHECK_EQUAL(std::string(""), found[2].file);
}

TEST("a colon and a severity inside a text do not cut it") {
  const auto found = parse_diagnostics("k.cu(1): warning #1-D: asm: note: error: x\n");
  CHECK_EQUAL(1u, found.size());
  CHECK_EQUAL(std::string("warning"), found[0].severity);
  CHECK_EQUAL(std::string("asm: note: error: x [#1-D]"), found[0].text);
}

TEST("lines that are no message of the compiler are no diagnostics") {
  CHECK(parse_diagnostics("ptxas info    : Used 14 registers\nhello\n\n").empty());
}

TEST("the summary is the first error, and how many follow") {
  std::vector<Diagnostic> found = {{"k.cu", 1, 0, "warning", "w"},
                                   {"k.cu", 7, 3, "error", "e1\nmore"}};
  CHECK_EQUAL(std::string("k.cu:7:3: e1"), summary_of(found));
  found.push_back({"k.cu", 8, 0, "error", "e2"});
  CHECK_EQUAL(std::string("k.cu:7:3: e1 (and 1 more error)"), summary_of(found));
  found.push_back({"", 0, 0, "error", "e3"});
  CHECK_EQUAL(std::string("k.cu:7:3: e1 (and 2 more errors)"), summary_of(found));
}

TEST("a header in memory is named without its leading ./") {
  const auto found = parse_diagnostics("./lib/a.h(3): error: x\n../b.h(4): error: y\n");
  CHECK_EQUAL(std::string("lib/a.h"), found[0].file);
  CHECK_EQUAL(std::string("../b.h"), found[1].file);
}
