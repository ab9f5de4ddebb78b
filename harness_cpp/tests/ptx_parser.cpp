#include "check.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

Module module_of(const std::string& text) { return parse(".version 9.5\n" + text); }

int error_line(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const ParseError& error) {
    return error.line();
  }
  return 0;
}

}  // namespace

TEST("the header gives version and target") {
  const Module module =
      parse("//\n// Generated\n//\n.version 9.5\n.target sm_90, debug\n.address_size 64\n");
  CHECK_EQUAL("9.5", module.version);
  CHECK_EQUAL("sm_90", module.target);
}

TEST("zero bytes at the end of the text are no part of it") {
  CHECK_EQUAL("9.5", parse(std::string(".version 9.5\n\0\0", 15)).version);
}

TEST("an entry has its parameters in a block and its block limits") {
  const Module module = module_of(
      ".visible .entry k(.param .u64 .ptr .align 1 p, .param .u32 n)\n"
      ".maxntid 256\n.minnctapersm 2 .maxnreg 32\n{ ret; }");
  const Function& kernel = *module.find("k");
  CHECK(kernel.entry);
  CHECK_EQUAL(12u, kernel.parameter_bytes);
  CHECK_EQUAL("n", kernel.parameters[1].name);
  CHECK_EQUAL(256u, kernel.max_threads[0]);
  CHECK_EQUAL(1u, kernel.max_threads[2]);
  CHECK(!kernel.required_threads);
}

TEST(".reqntid fixes the block") {
  const Module module = module_of(".entry k .reqntid 8, 4, 2 { ret; }");
  const Function& kernel = *module.find("k");
  CHECK(kernel.required_threads);
  CHECK_EQUAL(4u, kernel.max_threads[1]);
}

TEST("a function declared first is one function; one without a body is a declaration") {
  const Module module = module_of(
      ".func (.param .b32 r) f (.param .b32 a);\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".func (.param .b32 r) f (.param .b32 a) { ret; }\n.func f;");
  CHECK_EQUAL(1u, module.functions.size());
  CHECK_EQUAL("r", module.functions[0].results.at(0).name);
  CHECK_EQUAL(1u, module.declarations.size());
  CHECK_EQUAL("vprintf", module.declarations[0].name);
  CHECK_EQUAL(16u, module.declarations[0].parameter_bytes);
  CHECK(module.find("vprintf") == nullptr);
}

TEST("an alias finds its function") {
  const Module module = module_of(".func f { ret; } .alias g, f;");
  CHECK_EQUAL("f", module.find("g")->name);
}

TEST("module variables keep their space and linkage") {
  const Module module = module_of(
      ".visible .const .align 4 .b8 c[4] = {1};\n.extern .shared .align 16 .b8 s[];\n"
      ".weak .global .u32 g;");
  CHECK(module.variables[0].space == Space::constant);
  CHECK_EQUAL(1, int{module.variables[0].initial[0]});
  CHECK(module.variables[1].external);
  CHECK(module.variables[1].space == Space::shared);
  CHECK(!module.variables[2].external);
}

TEST("files come with or without timestamp, size and folder") {
  const Module module =
      module_of(".file 1 \"/a/k.cu\"\n.file 2 \"h.cuh\", 1234, 5678\n.file 3 \"/b\" \"c.h\"\n");
  CHECK_EQUAL("/a/k.cu", module.files.at(1));
  CHECK_EQUAL("h.cuh", module.files.at(2));
  CHECK_EQUAL("/b/c.h", module.files.at(3));
}

TEST("debug sections are skipped") {
  const Module module = module_of(
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n}\n"
      ".section .debug_info { .b32 .debug_abbrev\n.b64 $L__x-4 }\n.func f { ret; }");
  CHECK_EQUAL(1u, module.functions.size());
}

TEST("module scope pragmas and tuning strings are skipped") {
  const Module module =
      module_of(".pragma \"a\", \"b\";\n.entry k .pragma \"used\"; .noreturn { ret; }");
  CHECK_EQUAL(1u, module.functions.size());
}

TEST("what is no module is a ParseError at its line") {
  CHECK_EQUAL(1, error_line(""));
  CHECK_EQUAL(2, error_line("\nhello"));
  CHECK_EQUAL(2, error_line(".version 9.5\n.address_size 32"));
  CHECK_EQUAL(2, error_line(".version 9.5\n.unknown x;"));
  CHECK_EQUAL(3, error_line(".version 9.5\n.func f { ret; }\n.func f { ret; }"));
  CHECK_EQUAL(2, error_line(".version 9.5\n.entry k .maxntid { ret; }"));
  CHECK_EQUAL(2, error_line(".version 9.5\n.entry k .maxntid 1, 2, 3, 4 { ret; }"));
  CHECK_EQUAL(3, error_line(".version 9.5\n.section .debug_str {\n"));
}

TEST("initialised bytes are limited over the whole module") {
  std::string text;
  for (int i = 0; i < 3; ++i) text += ".global .b8 x[67108864] = {1};\n";
  CHECK_THROWS(ParseError, module_of(text));
}

TEST("the cluster a kernel is compiled for is kept") {
  const Module module = parse(
      ".version 9.0\n.target sm_90\n.entry k()\n.explicitcluster\n.reqnctapercluster 2, 4\n"
      "{ ret; }\n.entry other() { ret; }");
  CHECK(module.functions[0].explicit_cluster);
  CHECK_EQUAL(2u, module.functions[0].cluster[0]);
  CHECK_EQUAL(4u, module.functions[0].cluster[1]);
  CHECK_EQUAL(1u, module.functions[0].cluster[2]);
  CHECK(!module.functions[1].explicit_cluster);
  CHECK_EQUAL(0u, module.functions[1].cluster[0]);
  CHECK_EQUAL(2, error_line(".version 9.5\n.entry k .reqnctapercluster { ret; }"));
}
