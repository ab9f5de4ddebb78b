// Generated assertions and what their failures mean. That a compiler accepts and refuses them as
// meant is tested through the whole program, in tests/test_protocol.py.
#include "check.hpp"
#include "compile/signature.hpp"

using namespace cudaopt;
using namespace cudaopt::compile;
using cudaopt::protocol::EntrySpec;

namespace {

const std::vector<EntrySpec> kEntries = {{"softmax", {{{"const float*"}, {"long long", "long"}}}},
                                         {"free", std::nullopt},
                                         {"ns::tk<4>", {{}}}};

Diagnostic at_line(int line, const std::string& text) {
  return {"cudaopt signature", line, 0, "error", text};
}

}  // namespace

TEST("nothing is appended where nothing is declared") {
  CHECK_EQUAL(std::string(), signature_check({{"free", std::nullopt}}));
}

TEST("the appended text starts on a line of its own and checks declared entries only") {
  const std::string text = signature_check(kEntries);
  CHECK_EQUAL(0u, text.find("\n\n#line 1 \"cudaopt signature\"\n"));
  CHECK(text.find("cudaopt_same<cudaopt_p1, long long>::cudaopt_value || cudaopt_same<cudaopt_p1, "
                  "long>::cudaopt_value") != std::string::npos);
  CHECK(text.find("decltype(&softmax)") != std::string::npos);
  CHECK(text.find("decltype(&ns::tk<4>)") != std::string::npos);
  CHECK(text.find("decltype(&free)") == std::string::npos);
  CHECK(text.find("static constexpr") == std::string::npos);  // which would be in the program
}

TEST("a cast among overloads is checked as the pointer it is") {
  const std::vector<EntrySpec> entries = {{"static_cast<void (*)(float*)>(f)", {{{"float*"}}}}};
  CHECK(signature_check(entries).find("<decltype(static_cast<void (*)(float*)>(f))>") !=
        std::string::npos);
}

TEST("classes of headers are declared where the types name them, and only there") {
  const std::string text = signature_check({{"f", {{{"const __half*", "__half*"}}}}});
  CHECK(text.find("struct __half;\nstruct __half2;\nnamespace") != std::string::npos);
  CHECK(text.find("__nv_bfloat16") == std::string::npos);
  CHECK(signature_check(kEntries).find("__half") == std::string::npos);
}

TEST("a failed assertion becomes a sentence about a parameter, at the kernel's line") {
  const std::string trace =
      "static assertion failed\ndetected during instantiation of class \"entry_0<void (*)(P0, P1)> "
      "[with cudaopt_p0=double *, cudaopt_p1=int]\" at line 19999";
  const auto errors = signature_errors({at_line(10001, trace), at_line(10002, trace)}, kEntries,
                                       "\n__global__ void softmax(double* x, int n) {}", "k.cu");
  CHECK_EQUAL(1u, errors.size());
  CHECK_EQUAL(
      std::string("cudaopt signature: kernel 'softmax' is not as declared: parameter 1 is "
                  "'double *', expected 'const float*'; parameter 2 is 'int', expected 'long "
                  "long' or 'long'"),
      errors[0].text);
  CHECK_EQUAL(2, errors[0].line);
  CHECK_EQUAL(std::string("k.cu"), errors[0].file);
}

TEST("a file of several kernels is listed, since the wrong one may be named") {
  const std::string source = "__global__ void softmax(int);\n__global__ void row_max(float*);\n";
  const auto errors = signature_errors({at_line(10001, "identifier \"half\" is undefined")},
                                       kEntries, source, "k.cu");
  CHECK(errors.at(0).text.find(". Kernels in this file: softmax (line 1), row_max (line 2)") !=
        std::string::npos);
}

TEST("a wrong number of parameters and a type the source does not know are told apart") {
  const auto errors = signature_errors(
      {at_line(30000,
               "static assertion failed\ndetected during instantiation of class "
               "\"cudaopt_entry_2<cudaopt_got> [with cudaopt_got=void (*)(int)]\" at line 39999"),
       at_line(10001, "identifier \"half\" is undefined"),
       at_line(10001, "static assertion failed")},
      kEntries, "", "k.cu");
  CHECK_EQUAL(2u, errors.size());
  CHECK_EQUAL(std::string("cudaopt signature: kernel 'softmax' is not as declared: parameter 1: "
                          "identifier \"half\" is undefined"),
              errors[0].text);
  CHECK_EQUAL(std::string("cudaopt signature: kernel 'ns::tk<4>' is not as declared: it is void "
                          "(*)(int), expected 0 parameters"),
              errors[1].text);
}

TEST("messages about the user's own text and about the entry's name are no signature errors") {
  CHECK(signature_errors({{"k.cu", 10001, 0, "error", "e"}, at_line(19999, "undefined")}, kEntries,
                         "", "k.cu")
            .empty());
}

TEST("the line that declares a kernel is found from the look of the text") {
  const std::string source =
      "// softmax is here\n"
      "__device__ void softmax_row(float*);\n"
      "void use() { softmax; }\n"
      "extern \"C\" __global__\n"
      "void __launch_bounds__(256) softmax(float* x) {}\n"
      "namespace ns { template <int N> __global__ void tk() {} }\n";
  CHECK_EQUAL(5, line_declaring("softmax", source));
  CHECK_EQUAL(6, line_declaring("ns::tk<4>", source));
  CHECK_EQUAL(0, line_declaring("absent", source));
}
