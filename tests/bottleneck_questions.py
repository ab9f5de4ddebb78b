"""Ten bottlenecks, each asked for by counters, in plain words, and by a kernel whose names mean nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bottleneck:
    """What is asked, and the page that has to be found."""

    page: str
    counters: str
    words: str
    kernel: str


UNCOALESCED = Bottleneck(
    "coalescing",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio 31.9, "
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct 12.5, stall lg_throttle",
    "neighbouring threads read addresses that are far apart, most of each transaction is thrown away",
    """
// @launch grid=(cdiv(a, 128)) block=(128)
extern "C" __global__ void zq(const float* p, float* w, int a, int b) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= a) return;
    float h = 0.0f;
    for (int g = 0; g < b; ++g) h += p[u * b + g];
    w[u] = h;
}
""",
)
BANK_CONFLICTS = Bottleneck(
    "bank-conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 7864320 of "
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum 8388608; mio_throttle, short_scoreboard",
    "reading a column out of the scratchpad tile is serialised, 32 passes for one instruction",
    """
// @launch grid=(cdiv(a, 32), cdiv(b, 32)) block=(32, 32)
extern "C" __global__ void zq(const float* p, float* w, int a, int b) {
    __shared__ float k[32][32];
    int u = blockIdx.x * 32 + threadIdx.x, v = blockIdx.y * 32 + threadIdx.y;
    if (u < a && v < b) k[threadIdx.y][threadIdx.x] = p[v * a + u];
    __syncthreads();
    u = blockIdx.y * 32 + threadIdx.x;
    v = blockIdx.x * 32 + threadIdx.y;
    if (u < b && v < a) w[v * b + u] = k[threadIdx.x][threadIdx.y];
}
""",
)
BY_REGISTERS = Bottleneck(
    "occupancy-registers",
    "launch__registers_per_thread 168, launch__occupancy_limit_registers 2, "
    "launch__occupancy_limit_shared_mem 16, sm__warps_active.avg.pct_of_peak_sustained_active 18.3",
    "only a few warps fit on a multiprocessor since each thread keeps too many values",
    """
// @launch grid=(cdiv(a, 8192)) block=(128)
extern "C" __global__ void zq(const float* p, float* w, int a) {
    float r[64];
    int u = blockIdx.x * 8192 + threadIdx.x;
    #pragma unroll
    for (int g = 0; g < 64; ++g) r[g] = u + g * 128 < a ? p[u + g * 128] : 0.0f;
    #pragma unroll
    for (int g = 1; g < 64; ++g) r[g] = r[g] + r[g - 1];
    #pragma unroll
    for (int g = 0; g < 64; ++g) if (u + g * 128 < a) w[u + g * 128] = r[63 - g];
}
""",
)
BY_SHARED_MEMORY = Bottleneck(
    "occupancy-shared-memory",
    "launch__occupancy_limit_shared_mem 1, launch__occupancy_limit_registers 8, "
    "launch__shared_mem_per_block_dynamic 131072, sm__maximum_warps_per_active_cycle_pct 12.5",
    "low occupancy: one block takes the whole shared memory of a multiprocessor",
    """
// @launch grid=(a) block=(256) shared=4*24576
extern "C" __global__ void zq(const float* p, float* w, int b) {
    extern __shared__ float k[];
    for (int g = threadIdx.x; g < 24576; g += blockDim.x) k[g] = g < b ? p[blockIdx.x * (size_t)b + g] : 0.0f;
    __syncthreads();
    for (int g = threadIdx.x; g < b; g += blockDim.x) w[blockIdx.x * (size_t)b + g] = k[b - 1 - g];
}
""",
)
DIVERGENCE = Bottleneck(
    "divergence",
    "smsp__thread_inst_executed_per_inst_executed.ratio 9.1, "
    "smsp__sass_average_branch_targets_threads_uniform.pct 61, branch_resolving",
    "lanes of the same warp take different sides of an if, so most of them sit idle",
    """
// @launch grid=(cdiv(a, 256)) block=(256)
extern "C" __global__ void zq(const int* p, int* w, int a) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= a) return;
    int h = p[u], m = 0;
    while (h != 1) {
        h = h % 2 == 0 ? h / 2 : 3 * h + 1;
        ++m;
    }
    w[u] = m;
}
""",
)
LAUNCH_BOUND = Bottleneck(
    "tiny-kernels",
    "launch__grid_size 1, launch__waves_per_multiprocessor 0.002, gpu__time_duration.sum 3.4 us, "
    "sm__throughput.avg.pct_of_peak_sustained_elapsed 0.3",
    "it takes three microseconds and nearly all of the GPU is idle, starting it costs as much as the work",
    """
// @launch grid=(1) block=(256)
extern "C" __global__ void zq(const float* p, float* w, int a) {
    __shared__ float k[256];
    float h = 0.0f;
    for (int g = threadIdx.x; g < a; g += 256) h += p[g];
    k[threadIdx.x] = h;
    __syncthreads();
    for (int g = 128; g > 0; g >>= 1) {
        if (threadIdx.x < g) k[threadIdx.x] += k[threadIdx.x + g];
        __syncthreads();
    }
    if (threadIdx.x == 0) w[0] = k[0];
}
""",
)
FP32_BOUND = Bottleneck(
    "fp32-bound",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active 91, "
    "dram__throughput.avg.pct_of_peak_sustained_elapsed 4, "
    "stall math_pipe_throttle, smsp__sass_thread_inst_executed_op_ffma_pred_on.sum 1.3e11",
    "all the time goes into multiply-adds, memory is hardly used",
    """
// @launch grid=(cdiv(a, 256)) block=(256)
extern "C" __global__ void zq(const float* p, float* w, int a) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= a) return;
    float h = p[u], m = 1.0f;
    for (int g = 0; g < 2000; ++g) m = m * h + 0.5f;
    w[u] = m;
}
""",
)
L2_BOUND = Bottleneck(
    "l2-reuse",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed 93, "
    "dram__throughput.avg.pct_of_peak_sustained_elapsed 11, "
    "lts__t_sector_hit_rate.pct 98, long_scoreboard",
    "the second-level cache is saturated: every block fetches the same rows again although DRAM is quiet",
    """
// @launch grid=(cdiv(b, 32), cdiv(a, 8)) block=(32, 8)
extern "C" __global__ void zq(const float* p, const float* q, float* w, int a, int b, int c) {
    int u = blockIdx.x * 32 + threadIdx.x, v = blockIdx.y * 8 + threadIdx.y;
    if (u >= b || v >= a) return;
    float h = 0.0f;
    for (int g = 0; g < c; ++g) h += p[v * c + g] * q[g * b + u];
    w[v * b + u] = h;
}
""",
)
SPILLS = Bottleneck(
    "spills",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum 5242880, sass__inst_executed_register_spilling 8388608, "
    "resources.spill_store_bytes 412, local_requests 655360",
    "the compiler reports a stack frame, and an array private to the thread ends up in memory",
    """
// @launch grid=(cdiv(a, 128)) block=(128)
extern "C" __global__ void zq(const float* p, const int* s, float* w, int a) {
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (u >= a) return;
    float r[16];
    for (int g = 0; g < 16; ++g) r[g] = p[u + g * a];
    int d = s[u];
    w[u] = r[d & 15] + r[(d >> 4) & 15];
}
""",
)
TAIL = Bottleneck(
    "tail-effect",
    "launch__waves_per_multiprocessor 1.08, sm__warps_active.avg.pct_of_peak_sustained_active 41 against "
    "sm__maximum_warps_per_active_cycle_pct 100, max_block_instructions 40 times the mean",
    "a few blocks run much longer than the rest, and at the end most multiprocessors wait for them",
    """
// @launch grid=(a) block=(128)
extern "C" __global__ void zq(const float* p, const float* q, float* w, int a) {
    int v = blockIdx.x;
    float h = 0.0f;
    for (int g = threadIdx.x; g <= v; g += 128) h += p[(size_t)v * a + g] * q[g];
    atomicAdd(&w[v], h);
}
""",
)
BOTTLENECKS = {
    "uncoalesced": UNCOALESCED,
    "bank conflicts": BANK_CONFLICTS,
    "low occupancy by registers": BY_REGISTERS,
    "low occupancy by shared memory": BY_SHARED_MEMORY,
    "divergence": DIVERGENCE,
    "launch bound": LAUNCH_BOUND,
    "FP32 bound": FP32_BOUND,
    "L2 bound": L2_BOUND,
    "spills": SPILLS,
    "tail": TAIL,
}
