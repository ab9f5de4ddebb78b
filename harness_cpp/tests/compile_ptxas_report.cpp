// Logs as ptxas 13.5 writes them.
#include "check.hpp"
#include "compile/ptxas_report.hpp"

using namespace cudaopt;
using namespace cudaopt::compile;

TEST("each entry has its own resources, and functions that are no entries have none") {
  const auto found = parse_resources(
      "ptxas info    : 0 bytes gmem, 40 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z2stPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z2stPf\n"
      "ptxas         .     400 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 84 registers, used 0 barriers, 400 bytes cumulative stack size\n"
      "ptxas info    : Compile time = 70.598 ms\n"
      "ptxas info    : Function properties for _Z3recfi\n"
      "ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'plain' for 'sm_90'\n"
      "ptxas info    : Function properties for plain\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 14 registers, used 1 barriers, 256 bytes smem, 16 bytes cmem[2]\n");
  CHECK_EQUAL(2u, found.size());
  const Resources& st = found.at("_Z2stPf");
  CHECK_EQUAL(84u, st.registers);
  CHECK_EQUAL(12u, st.spill_store_bytes);
  CHECK_EQUAL(16u, st.spill_load_bytes);
  CHECK_EQUAL(400u, st.stack_bytes);
  const Resources& plain = found.at("plain");
  CHECK_EQUAL(14u, plain.registers);
  CHECK_EQUAL(256u, plain.static_shared_bytes);
  CHECK_EQUAL(16u, plain.constant_bytes);
  CHECK_EQUAL(0u, plain.stack_bytes);
}

TEST("an error in inline PTX is at the line of CUDA source that holds it") {
  const std::string ptx =
      ".version 9.5\n\t.loc\t1 5 3\n\tmov.u32 %r1, 0;\n\t.loc\t1 8 2\n\tbad.foo %r1;\n\t.file\t1 "
      "\"k.cu\"\n";
  const auto found = parse_ptxas_messages(
      "ptxas application ptx input, line 5; error   : Unknown modifier '.foo'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n",
      ptx);
  CHECK_EQUAL(1u, found.size());
  CHECK_EQUAL(std::string("k.cu"), found[0].file);
  CHECK_EQUAL(8, found[0].line);
  CHECK_EQUAL(std::string("ptxas: Unknown modifier '.foo'"), found[0].text);
}

TEST("errors without a line, fatal ones and warnings are told apart from information") {
  const auto found = parse_ptxas_messages(
      "ptxas info    : Used 14 registers\n"
      "ptxas error   : Entry function 'k' uses too much shared data (0x3a980 bytes, 0xc000 max)\n"
      "ptxas fatal   : Unresolved extern function 'f'\n"
      "ptxas warning : Stack size cannot be determined\n",
      "");
  CHECK_EQUAL(3u, found.size());
  CHECK_EQUAL(std::string("error"), found[0].severity);
  CHECK_EQUAL(0, found[0].line);
  CHECK_EQUAL(std::string("error"), found[1].severity);
  CHECK_EQUAL(std::string("warning"), found[2].severity);
}
