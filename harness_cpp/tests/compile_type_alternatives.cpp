#include "check.hpp"
#include "compile/type_alternatives.hpp"

using namespace cudaopt::compile;

TEST("pointers may be to vectors of the same elements, as const as they were") {
  CHECK(with_vectors({"const float*", "float*"}) ==
        (TypeAlternatives{"const float*", "float*", "const float2*", "const float4*", "float2*",
                          "float4*"}));
  CHECK(with_vectors({"__half*"}) == (TypeAlternatives{"__half*", "__half2*"}));
}

TEST("scalars and other types have no vectors") {
  CHECK(with_vectors({"int"}) == TypeAlternatives{"int"});
  CHECK(with_vectors({"bool*", "ns::Params"}) == (TypeAlternatives{"bool*", "ns::Params"}));
}

TEST("classes of CUDA's headers are declared where they are named") {
  CHECK_EQUAL(std::string("struct __half;\nstruct __half2;\n"),
              declarations_of_classes(with_vectors({"const __half*"})));
  CHECK_EQUAL(std::string(), declarations_of_classes({"const float4*", "int"}));
}
