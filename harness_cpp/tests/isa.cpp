// The choice of a handler build by name.
#include "isa.hpp"

#include "check.hpp"
#include "device.hpp"

using namespace cudaopt;

TEST("auto is the best build of this host, and the baseline can always be asked for") {
  CHECK(choose_isa("auto") == host_isa());
  CHECK(choose_isa("x86-64") == Isa::baseline);
}

TEST("an instruction set nobody built is refused") { CHECK_THROWS(Fault, choose_isa("avx1024")); }
