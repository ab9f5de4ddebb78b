"""Kernels with one mistake each in how their threads share memory, and how it is mended."""

from __future__ import annotations

from checked_launches import Planted

HEAD = 'extern "C" __global__ void k(const int* x, int* y) {\n    int t = threadIdx.x;\n'


def _kernel(
    name: str, body: str, *, before: str = "", block: int = 64, grid: int = 1, access: str = "write"
) -> Planted:
    return Planted(name, before + HEAD + body + "}\n", block=block, grid=grid, access=access)


WITHIN_A_BLOCK = (
    _kernel(
        "tile without a barrier",
        """    __shared__ int tile[64];
    tile[t] = x[t];
#ifdef MENDED
    __syncthreads();
#endif
    y[t] = tile[63 - t];  // FINDS race
""",
    ),
    _kernel(
        "tile filled again too early",
        """    __shared__ int tile[64];
    int sum = 0;
    for (int i = 0; i < 4; ++i) {
        tile[t] = x[i * 64 + t];
        __syncthreads();
        sum += tile[63 - t];  // FINDS race
#ifdef MENDED
        __syncthreads();
#endif
    }
    y[t] = sum;
""",
    ),
    _kernel(
        "two buffers with one barrier too few",
        """    __shared__ int tile[2][64];
    int sum = 0;
    for (int i = 0; i < 6; ++i) {
#ifdef MENDED
        int at = i & 1;
#else
        int at = 0;
#endif
        tile[at][t] = x[i * 64 + t];
        __syncthreads();
        sum += tile[at][63 - t];  // FINDS race
    }
    y[t] = sum;
""",
    ),
    _kernel(
        "scan in place",
        """    __shared__ int s[64];
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int left = t >= d ? s[t - d] : 0;  // FINDS race
#ifdef MENDED
        __syncthreads();
#endif
        s[t] += left;
        __syncthreads();
    }
    y[t] = s[t];
""",
    ),
    _kernel(
        "warp tail without __syncwarp",
        """    __shared__ int s[64];
    s[t] = x[t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];  // FINDS race
#ifdef MENDED
        __syncwarp();
#endif
    }
    if (t == 0) y[0] = s[0];
""",
        block=32 * 2,
    ),
    _kernel(
        "volatile warp tail without __syncwarp",
        """    __shared__ volatile int s[64];
    s[t] = x[t];
    s[t + 32] = x[t + 32];
    __syncwarp();
    for (int d = 32; d > 0; d /= 2) {
        int other = s[t + d & 63];  // FINDS race
#ifdef MENDED
        __syncwarp();
#endif
        s[t] = s[t] + other;
#ifdef MENDED
        __syncwarp();
#endif
    }
    if (t == 0) y[0] = s[0];
""",
        block=32,
    ),
    _kernel(
        "producer that arrives before it writes",
        """    __shared__ int buffer[32];
    if (t < 32) {
#ifndef MENDED
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
        buffer[t] = x[t];
#ifdef MENDED
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t] = buffer[63 - t];  // FINDS race
    }
""",
    ),
    _kernel(
        "flag between warps without a fence",
        """    __shared__ int buffer[32];
    __shared__ volatile int ready;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        buffer[t] = x[t];
        __syncwarp();
#ifdef MENDED
        __threadfence_block();
#endif
        if (t == 0) ready = 1;
    } else {
        while (ready == 0) {}
        y[t] = buffer[63 - t];  // FINDS race
    }
""",
    ),
    _kernel(
        "lanes that write different values",
        """    __shared__ int last;
#ifdef MENDED
    if (t == 63) last = t;
#else
    if (x[t] > 5) last = t;  // FINDS race
#endif
    __syncthreads();
    y[t] = last;
""",
    ),
    _kernel(
        "counter that is no atomic",
        """    __shared__ int bins[8];
    if (t < 8) bins[t] = 0;
    __syncthreads();
#ifdef MENDED
    atomicAdd(&bins[x[t] & 7], 1);
#else
    bins[x[t] & 7] += 1;  // FINDS race
#endif
    __syncthreads();
    if (t < 8) y[t] = bins[t];
""",
    ),
)

BETWEEN_BLOCKS = (
    _kernel(
        "two blocks write one element",
        """#ifdef MENDED
    y[blockIdx.x * 64 + t] = x[t] + blockIdx.x;
#else
    y[t] = x[t] + blockIdx.x;  // FINDS race
#endif
""",
        grid=2,
    ),
    _kernel(
        "stencil in place",
        """    int i = blockIdx.x * 64 + t;
#ifdef MENDED
    int next = x[i + 1];
#else
    int next = y[i + 1];  // FINDS race
#endif
    __syncthreads();
    y[i] += next;
""",
        grid=4,
        access="read_write",
    ),
    _kernel(
        "last block without a fence",
        """    __shared__ bool last;
    y[blockIdx.x * 64 + t] = x[t];
#ifdef MENDED
    __threadfence();
#endif
    __syncthreads();
    if (t == 0) last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += y[b * 64 + t];  // FINDS race
    y[gridDim.x * 64 + t] = sum;
""",
        before="__device__ unsigned arrived;\n",
        grid=5,
    ),
    _kernel(
        "histogram without atomics",
        """#ifdef MENDED
    atomicAdd(&y[x[t] & 7], 1);
#else
    y[x[t] & 7] += 1;  // FINDS race
#endif
""",
        grid=3,
        access="read_write",
    ),
    _kernel(
        "look-back scan without a fence",
        """    __shared__ int before;
    int b = blockIdx.x;
    if (t == 0) {
        before = 0;
        if (b > 0) {
            while (ready[b - 1] == 0) {}
            before = sums[b - 1];  // FINDS race
        }
        sums[b] = before + x[b];
#ifdef MENDED
        __threadfence();
#endif
        ready[b] = 1;
    }
    __syncthreads();
    y[b * 64 + t] = before;
""",
        before="__device__ int sums[64];\n__device__ volatile int ready[64];\n",
        grid=9,
    ),
)

UNWRITTEN = (
    _kernel(
        "edge of a tile",
        """    __shared__ int tile[66];
    tile[t + 1] = x[t];
#ifdef MENDED
    if (t < 2) tile[t * 65] = 0;
#endif
    __syncthreads();
    y[t] = tile[t] + tile[t + 2];  // FINDS uninitialized_read
""",
    ),
    _kernel(
        "output that is added to",
        """#ifdef MENDED
    y[t] = 0;
#endif
    y[t] += x[t];  // FINDS uninitialized_read
""",
    ),
    _kernel(
        "output that is counted in",
        """#ifdef MENDED
    atomicExch(&y[t], 0);
#endif
    atomicAdd(&y[t], x[t]);  // FINDS uninitialized_read
""",
    ),
    _kernel(
        "local array filled in part",
        """    int kept[8];
#ifdef MENDED
    for (int i = 0; i < 8; ++i) kept[i] = 0;
#endif
    for (int i = 0; i < (x[0] & 3) + 2; ++i) kept[x[t + i] & 7] = i;
    int sum = 0;
    for (int i = 0; i < x[8]; ++i) sum += kept[x[i] & 7];  // FINDS uninitialized_read
    y[t] = sum;
""",
    ),
)

SILENT = (
    _kernel(
        "same value by all",
        "    __shared__ int any;\n    if (x[t] >= 0) any = 1;\n    __syncthreads();\n    y[t] = any;\n",
    ),
    _kernel(
        "look-back over a long chain",
        """    __shared__ int before;
    int b = blockIdx.x;
    if (t == 0) {
        before = 0;
        for (int p = b - 1; p >= 0; --p) {
            while (ready[p] == 0) {}
            __threadfence();
            if (ready[p] == 2) { before += sums[p]; break; }
            before += parts[p];
        }
        parts[b] = x[b];
        __threadfence();
        ready[b] = 1;
        sums[b] = before + x[b];
        __threadfence();
        ready[b] = 2;
    }
    __syncthreads();
    y[b * 64 + t] = before;
""",
        before="__device__ int sums[64], parts[64];\n__device__ volatile int ready[64];\n",
        grid=60,
    ),
    _kernel(
        "sum by shuffles",
        """    int v = x[t];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    __shared__ int sums[2];
    if (t % 32 == 0) sums[t / 32] = v;
    __syncthreads();
    if (t == 0) y[0] = sums[0] + sums[1];
""",
    ),
    _kernel(
        "lock per block and lane",
        """    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            total = total + x[t];
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    y[blockIdx.x * 64 + t] = x[t];
""",
        before="__device__ int lock;\n__device__ int total;\n",
        grid=2,
    ),
    Planted(
        "bytes of neighbours",
        'extern "C" __global__ void k(const unsigned char* x, unsigned char* y) {\n'
        "    __shared__ unsigned char s[256];\n"
        "    int t = threadIdx.x;\n"
        "    s[t] = x[t];\n"
        "    y[blockIdx.x * 64 + t] = s[t] + 1;\n}\n",
        grid=3,
        dtype="uint8",
    ),
    Planted(
        "halves of neighbours",
        'extern "C" __global__ void k(const unsigned short* x, unsigned short* y) {\n'
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    y[i] = x[i];\n}\n",
        block=33,
        grid=7,
        dtype="uint16",
    ),
)
