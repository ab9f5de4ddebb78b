// Text cut short or changed at random is parsed or refused, never crashed on.
#include <random>

#include "check.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

const std::string kModule = R"(
.version 9.5
.target sm_90
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 8 .u64 tab[2] = {f, generic(x)+4};
.const .align 4 .b8 c[2][3] = {{1, 2}, {3}};
.extern .shared .align 16 .b8 dynamic[];
.func (.param .align 4 .b8 r[8]) f (.param .b32 a)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [a];
  st.param.v2.b32 [r], {%r1, _};
  ret;
}
.visible .entry k(.param .u64 .ptr .align 1 p, .param .align 4 .b8 s[16])
.maxntid 256, 1, 1
{
  .reg .pred %p<3>; .reg .f32 %f<4>; .reg .b64 %rd<4>, %SP;
  .shared .align 4 .b8 smem[128];
  .loc 1 3 0
  ld.param.u64 %rd1, [p];
  .loc 2 5 9, function_name $L__info_string0, inlined_at 1 3 0
$L__BB0_1:
  setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p1;
  @!%p1 bra $L__BB0_2;
  { // callseq 0, 0
  .param .b32 param0; .param .b32 retval0;
  st.param.b32 [param0+0], -4;
  prototype_5 : .callprototype (.param .b32 _) _ (.param .b32 _);
  call (retval0), %rd1, (param0), prototype_5;
  }
  ts: .branchtargets $L__BB0_1, $L__BB0_2;
  brx.idx %rd2, ts;
$L__BB0_2:
  fma.rn.f32 %f2, %f1, 1.5, %f3; /* text */
  ret;
}
.file 1 "a.cu", 12, 34
.section .debug_str
{
$L__info_string0:
.b8 95,90,0
}
)";

// Returns whether the text was taken.
bool survives(const std::string& text) {
  try {
    const Module module = parse(text);
    for (const Function& function : module.functions)
      (void)assign_slots(function, build_control_flow(function));
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

}  // namespace

TEST("the whole text is a module") { CHECK(survives(kModule)); }

TEST("a module cut anywhere is parsed or refused") {
  int refused = 0;
  for (std::size_t length = 0; length < kModule.size(); ++length)
    refused += !survives(kModule.substr(0, length));
  CHECK(refused > static_cast<int>(kModule.size()) / 2);
}

TEST("a module with changed bytes is parsed or refused") {
  std::mt19937 random(3);
  const std::string alphabet = "{}[]()<>;:,.%@!|+-_=\"/*0123456789abfxUZ \n\x80";
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = kModule;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
      text[random() % text.size()] = alphabet[random() % alphabet.size()];
    refused += !survives(text);
  }
  CHECK(refused > 500);
}

TEST("a module with a piece moved elsewhere is parsed or refused") {
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = kModule;
    const std::string piece = text.substr(random() % text.size(), random() % 60);
    text.insert(random() % text.size(), piece);
    refused += !survives(text);
  }
  CHECK(refused > 300);
}
