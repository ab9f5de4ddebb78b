#include "cuda/helper_kernels.hpp"

#include <vector>

#include "cuda/context.hpp"

namespace cudaopt::cuda {
namespace {

constexpr int kDemoteMajor = 8;

// Written by hand: CI needs no nvcc, and each line has its reason. Lowest target of drivers 12 and
// 13; __global__ pointers are 64 bits wide there.
constexpr char kHeader[] = R"ptx(
.version 7.0
.target sm_70
.address_size 64
)ptx";

constexpr char kDemoteHeader[] = R"ptx(
.version 7.4
.target sm_80
.address_size 64
)ptx";

constexpr char kEverywhere[] = R"ptx(

.extern .shared .align 16 .b8 cudaopt_dynamic[];

// One thread keeps the stream waiting until the host sets the flag in mapped memory, or, so that a
// launch which itself waits for the host cannot wait for ever, until the time is over.
.visible .entry cudaopt_wait(
  .param .u64 flag_pointer, .param .u64 timeout_ns, .param .u64 timed_out_pointer)
{
  .reg .pred %set, %early;
  .reg .b32 %flag, %one;
  .reg .b64 %flag_pointer, %timed_out_pointer, %deadline, %timeout, %now;
  ld.param.u64 %flag_pointer, [flag_pointer];
  ld.param.u64 %timeout, [timeout_ns];
  ld.param.u64 %timed_out_pointer, [timed_out_pointer];
  mov.u64 %now, %globaltimer;
  add.u64 %deadline, %now, %timeout;
$spin:
  ld.volatile.global.u32 %flag, [%flag_pointer];  // volatile: the host's store must be seen
  setp.ne.u32 %set, %flag, 0;
  @%set bra $released;
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %early, %now, %deadline;
  @%early bra $spin;
  mov.u32 %one, 1;
  st.volatile.global.u32 [%timed_out_pointer], %one;
$released:
  ret;
}

// Reads everything once through the L2, and leaves no dirty line behind, as a memset would. The sum
// of what is read goes nowhere unless it is one that zeros cannot give.
.visible .entry cudaopt_read(.param .u64 pointer, .param .u64 vectors, .param .u64 sink_pointer)
{
  .reg .pred %over, %never;
  .reg .b32 %a, %b, %c, %d, %sum, %block, %threads, %thread, %blocks;
  .reg .b64 %pointer, %vectors, %sink, %i, %stride, %address;
  ld.param.u64 %pointer, [pointer];
  ld.param.u64 %vectors, [vectors];
  ld.param.u64 %sink, [sink_pointer];
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %address, %thread;
  add.u64 %i, %i, %address;
  mul.wide.u32 %stride, %blocks, %threads;
  mov.u32 %sum, 0;
$next:
  setp.ge.u64 %over, %i, %vectors;
  @%over bra $read;
  shl.b64 %address, %i, 4;
  add.u64 %address, %pointer, %address;
  ld.global.cg.v4.u32 {%a, %b, %c, %d}, [%address];
  or.b32 %a, %a, %b;
  or.b32 %c, %c, %d;
  or.b32 %a, %a, %c;
  or.b32 %sum, %sum, %a;
  add.u64 %i, %i, %stride;
  bra $next;
$read:
  setp.eq.u32 %never, %sum, 0x5eed1e55;
  @%never st.global.u32 [%sink], %sum;
  ret;
}

// The block on SM 0 notes its SM's cycle counter and the time, both in one store: another block there
// cannot tear them apart.
.visible .entry cudaopt_clock(.param .u64 slot_pointer)
{
  .reg .pred %elsewhere;
  .reg .b32 %sm;
  .reg .b64 %slot, %cycles, %now;
  mov.u32 %sm, %smid;
  setp.ne.u32 %elsewhere, %sm, 0;
  @%elsewhere bra $noted;
  ld.param.u64 %slot, [slot_pointer];
  mov.u64 %cycles, %clock64;
  mov.u64 %now, %globaltimer;
  st.global.v2.u64 [%slot], {%cycles, %now};
$noted:
  ret;
}

.visible .entry cudaopt_empty()
{
  ret;
}

// Words that are NaN as f32 and as two f16 or bf16. Volatile: nothing reads them, and the stores
// must stay.
.visible .entry cudaopt_dirty_shared(.param .u32 bytes)
{
  .reg .pred %over;
  .reg .b32 %bytes, %at, %step, %address, %base, %nan;
  ld.param.u32 %bytes, [bytes];
  mov.u32 %at, %tid.x;
  shl.b32 %at, %at, 2;
  mov.u32 %step, %ntid.x;
  shl.b32 %step, %step, 2;
  and.b32 %bytes, %bytes, 0xfffffffc;
  mov.u32 %base, cudaopt_dynamic;
  mov.u32 %nan, 0x7ff97ff9;
$fill:
  setp.ge.u32 %over, %at, %bytes;
  @%over bra $filled;
  add.u32 %address, %base, %at;
  st.volatile.shared.u32 [%address], %nan;
  add.u32 %at, %at, %step;
  bra $fill;
$filled:
  ret;
}
)ptx";

// Lines that a kernel asked to be evicted last become like any other.
constexpr char kDemote[] = R"ptx(
.visible .entry cudaopt_demote(.param .u64 pointer, .param .u64 lines)
{
  .reg .pred %over;
  .reg .b32 %block, %threads, %thread, %blocks;
  .reg .b64 %pointer, %lines, %i, %stride, %address;
  ld.param.u64 %pointer, [pointer];
  ld.param.u64 %lines, [lines];
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %address, %thread;
  add.u64 %i, %i, %address;
  mul.wide.u32 %stride, %blocks, %threads;
$demote_next:
  setp.ge.u64 %over, %i, %lines;
  @%over bra $demoted;
  shl.b64 %address, %i, 7;
  add.u64 %address, %pointer, %address;
  applypriority.global.L2::evict_normal [%address], 128;
  add.u64 %i, %i, %stride;
  bra $demote_next;
$demoted:
  ret;
}
)ptx";

}  // namespace

bool has_demote_kernel(int compute_capability_major) {
  return compute_capability_major >= kDemoteMajor;
}

std::string helper_kernels_ptx(int compute_capability_major) {
  if (!has_demote_kernel(compute_capability_major)) return std::string(kHeader) + kEverywhere;
  return std::string(kDemoteHeader) + kEverywhere + kDemote;
}

void enqueue_helper(const Context& context, FunctionHandle helper, unsigned blocks,
                    unsigned threads, std::initializer_list<std::uint64_t> arguments) {
  std::vector<std::uint64_t> values(arguments);
  std::vector<void*> parameters;
  for (std::uint64_t& value : values) parameters.push_back(&value);
  CUDAOPT_CUDA(context.driver(), launch_kernel, helper, blocks, 1, 1, threads, 1, 1, 0,
               context.stream(), parameters.data(), nullptr);
}

}  // namespace cudaopt::cuda
