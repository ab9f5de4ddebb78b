// Kernels found in text, and what is said of an entry that names none of them.
#include "check.hpp"
#include "compile/kernel_names.hpp"

using namespace cudaopt;
using namespace cudaopt::compile;

namespace {

const std::string kSource =
    "// __global__ void commented(int);\n"
    "namespace ns {\n"
    "template <int D, class T>\n"
    "__global__ void __launch_bounds__(256, 2)\n"
    "    attn(const T* q) { const char* s = \"__global__ void quoted(\"; }\n"
    "/* __global__ void blocked(int) */\n"
    "}\n"
    "extern \"C\" __global__ void plain(float* x);\n";

}  // namespace

TEST("kernels are found behind attributes, and not in comments or strings") {
  const auto kernels = kernels_in_text(kSource);
  CHECK_EQUAL(2u, kernels.size());
  CHECK_EQUAL(std::string("attn"), kernels[0].name);
  CHECK_EQUAL(5, kernels[0].line);
  CHECK(kernels[0].is_template);
  CHECK_EQUAL(std::string("plain"), kernels[1].name);
  CHECK_EQUAL(8, kernels[1].line);
  CHECK(!kernels[1].is_template);
}

TEST("text that ends in the middle of anything is read to its end") {
  for (const char* text : {"__global__", "__global__ void f", "__global__ void f(", "/* __global__",
                           "__global__ \"", "__global__ void __launch_bounds__(", "\"\\"}) {
    CHECK(kernels_in_text(text).size() <= 1);
  }
}

TEST("the plain name of an entry is what stands in the text") {
  CHECK_EQUAL(std::string("attn"), plain_name_of("ns::attn<64, std::pair<a, b>>"));
  CHECK_EQUAL(std::string("attn"), plain_name_of("&ns::attn"));
  CHECK_EQUAL(std::string("attn"), plain_name_of(" attn "));
  CHECK_EQUAL(std::string("attn"),
              plain_name_of("static_cast<void (*)(float*, int)>(ns::attn<4>)"));
  CHECK_EQUAL(std::string("attn"), plain_name_of("(void (*)(float*))ns::attn"));
  CHECK_EQUAL(std::string(), plain_name_of(")"));
  CHECK_EQUAL(std::string(), plain_name_of(""));
}

TEST("an entry among overloads is told which there are, and to choose one by a cast") {
  const auto fault = unknown_entry(
      "m", "cannot determine which instance of overloaded function \"f\" is intended", "k.cu",
      "\n__global__ void f(float*);\n__global__ void f(double*);\n", {"_Z1fPf", "_Z1fPd"});
  CHECK_EQUAL(std::string("module \"m\" has no such kernel: cannot determine which instance of "
                          "overloaded function \"f\" is intended. Name one of its overloads by a "
                          "cast, such as static_cast<void (*)(float*)>(f). __global__ functions "
                          "found: f(float*), f(double*)."),
              fault.message);
  CHECK(fault.kind == FaultKind::unknown_entry);
  CHECK_EQUAL(std::string("k.cu"), fault.at->file);
  CHECK_EQUAL(2, fault.at->line);
}

TEST("a kernel of extern \"C\" that is among CUDA's own overloads is told to choose by a cast") {
  const auto fault = unknown_entry(
      "m", "cannot determine which instance of overloaded function \"any\" is intended", "k.cu",
      "\nextern \"C\" __global__ void any(int*);\n", {"any"});
  CHECK(fault.message.find("such as static_cast<void (*)(float*)>(any).") != std::string::npos);
}

TEST("a template without arguments is told to give them, at its line") {
  const auto fault = unknown_entry(
      "m", "cannot determine which instance of function template \"ns::attn\" is intended", "k.cu",
      kSource, {"plain"});
  CHECK(fault.message.find("It is a template: give its arguments, such as ns::attn<float>. "
                           "__global__ functions found: plain; templates attn (line 5).") !=
        std::string::npos);
  CHECK_EQUAL(5, fault.at->line);
}

TEST("a type of a header that was not included names the header") {
  const auto fault =
      unknown_entry("m", "identifier \"__nv_bfloat16\" is undefined", "k.cu", "", {});
  CHECK_EQUAL(std::string("module \"m\" has no such kernel: identifier \"__nv_bfloat16\" is "
                          "undefined. Include <cuda_bf16.h> in the source. No __global__ function "
                          "was found."),
              fault.message);
  CHECK(!fault.at.has_value());
}
