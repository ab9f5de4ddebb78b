#include "check.hpp"
#include "ptx/parser.hpp"
#include "ptx/source_lines.hpp"

using namespace cudaopt;
using namespace cudaopt::ptx;

namespace {

// Three calls deep: user line 14 -> user line 5 -> header line 96 -> builtin line 106.
Module inlined() {
  return parse(
      ".version 9.5\n.func f {\n"
      ".loc 1 14 3\n"
      ".loc 1 5 28, function_name $L__info_string0, inlined_at 1 14 3\n"
      ".loc 2 96 9, function_name $L__info_string1 + 12, inlined_at 1 5 28\n"
      ".loc 3 106 3, function_name $L__info_string2, inlined_at 2 96 9\n"
      "ret;\n}\n"
      ".file 1 \"/home/me/kernels/softmax.cu\"\n.file 2 \"/usr/include/warp.cuh\"\n"
      ".file 3 \"builtin.h\", 1, 2\n");
}

std::string shown(const std::vector<SourcePoint>& points) {
  std::string text;
  for (const SourcePoint& point : points)
    text += point.file + ":" + std::to_string(point.line) + " ";
  return text;
}

std::int32_t last_location(const Module& module) {
  return module.functions[0].instructions.back().location;
}

}  // namespace

TEST("a chain leads from the innermost line outward") {
  const Module module = inlined();
  CHECK_EQUAL("builtin.h:106 /usr/include/warp.cuh:96 softmax.cu:5 softmax.cu:14 ",
              shown(source_chain(module, last_location(module), "softmax.cu")));
}

TEST("the user's line comes first, then where it was inlined from") {
  const Module module = inlined();
  const SourceLines lines = user_lines(module, last_location(module), "softmax.cu");
  CHECK_EQUAL("softmax.cu:5 ", shown({*lines.at}));
  CHECK_EQUAL("softmax.cu:14 ", shown(lines.inlined_from));
}

TEST("without a line of the user the innermost one stands") {
  const Module module = inlined();
  const SourceLines lines = user_lines(module, last_location(module), "other.cu");
  CHECK_EQUAL("builtin.h:106 ", shown({*lines.at}));
  CHECK_EQUAL(3u, lines.inlined_from.size());
}

TEST("the user's file is known by its path's end, else by its name") {
  const Module module = inlined();
  for (const char* name :
       {"kernels/softmax.cu", "/home/me/kernels/softmax.cu", "elsewhere/softmax.cu"})
    CHECK_EQUAL(name, user_lines(module, last_location(module), name).at->file);
  CHECK_EQUAL("builtin.h", user_lines(module, last_location(module), "max.cu").at->file);
}

TEST("a header that shares the name is not the user's file if a path fits better") {
  const Module module = parse(
      ".version 9.5\n.func f {\n.loc 1 8 1\n.loc 2 9 1, function_name s, inlined_at 1 8 1\nret; }\n"
      ".file 1 \"/w/mine/reduce.cu\"\n.file 2 \"/lib/reduce.cu\"\n");
  CHECK_EQUAL(8, user_lines(module, last_location(module), "mine/reduce.cu").at->line);
  CHECK_EQUAL(9, user_lines(module, last_location(module), "x/reduce.cu").at->line);
}

TEST("lines the compiler made up are left out") {
  const Module module = parse(".version 9.5\n.func f {\n.loc 1 0 28\nret; }\n.file 1 \"a.cu\"\n");
  CHECK(!user_lines(module, 0, "a.cu").at);
  CHECK(!user_lines(module, -1, "a.cu").at);
}

TEST("a call site means its latest .loc in the same function") {
  const Module module = parse(
      ".version 9.5\n.func f {\n.loc 1 3 1\n.loc 2 4 1, function_name s, inlined_at 1 3 1\n"
      ".loc 2 5 1, function_name s, inlined_at 2 4 1\nret; }\n"
      ".func g {\n.loc 2 5 1, function_name s, inlined_at 2 4 1\nret; }\n"
      ".file 1 \"a.cu\"\n.file 2 \"b.cu\"\n");
  CHECK_EQUAL("b.cu:5 b.cu:4 a.cu:3 ", shown(source_chain(module, last_location(module), "a.cu")));
  CHECK_EQUAL("b.cu:5 b.cu:4 ",
              shown(source_chain(module, module.functions[1].instructions[0].location, "a.cu")));
}

TEST("a line in a header of the user's own is the user's, even if it shares the file's name") {
  const Module module = parse(
      ".version 9.5\n.func f {\n.loc 1 8 1\n.loc 2 9 1, function_name s, inlined_at 1 8 1\n"
      ".loc 3 7 1, function_name t, inlined_at 2 9 1\nret; }\n"
      ".file 1 \"k.cu\"\n.file 2 \"./lib/k.cu\"\n.file 3 \"cuda_fp16.hpp\"\n");
  const SourceLines lines = user_lines(module, last_location(module), "k.cu");
  CHECK_EQUAL("lib/k.cu:9 ", shown({*lines.at}));
  CHECK_EQUAL("k.cu:8 ", shown(lines.inlined_from));
}
