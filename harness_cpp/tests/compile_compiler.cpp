// Names in PTX. Compiling itself is tested through the whole program, in tests/test_protocol.py.
#include "check.hpp"
#include "compile/compiler.hpp"
#include "compile/kernel_names.hpp"

using namespace cudaopt::compile;

TEST("the entries of PTX text are listed and made readable") {
  const auto entries = entries_of(
      ".visible .entry softmax(\n.visible .func (.param .b32 r) f(\n.entry _Z5plainPf\n(");
  CHECK_EQUAL(2u, entries.size());
  CHECK_EQUAL(std::string("softmax, plain(float*)"), readable_list(entries));
}
