"""CUDA kernels whose threads wait for each other: `k(unsigned* y, T* state)`, both zeroed at first."""

from __future__ import annotations

# Every thread adds its number under one lock. The lanes of a warp want it at the same time.
SPIN_LOCK = """
extern "C" __global__ void k(unsigned* y, int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    y[0] = y[0] + threadIdx.x + blockIdx.x * blockDim.x;
    __threadfence();
    atomicExch(lock, 0);
}
"""
# The same with a branch around the critical section, which needs no other lane to go on.
TRY_LOCK = """
extern "C" __global__ void k(unsigned* y, int* lock) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            y[0] = y[0] + threadIdx.x + blockIdx.x * blockDim.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
"""
TICKET_LOCK = """
extern "C" __global__ void k(unsigned* y, int* lock) {
    const int ticket = atomicAdd(&lock[0], 1);
    while (atomicAdd(&lock[1], 0) != ticket) __nanosleep(20);
    __threadfence();
    y[0] = y[0] + threadIdx.x + blockIdx.x * blockDim.x;
    __threadfence();
    atomicAdd(&lock[1], 1);
}
"""
# Who has the lock waits with all others of the warp before it gives it back.
LOCK_AROUND_SYNCWARP = """
extern "C" __global__ void k(unsigned* y, int* lock) {
    if (threadIdx.x % 32 == 0) while (atomicCAS(lock, 0, 1) != 0) {}
    __syncwarp();
    for (int lane = 0; lane < 32; ++lane) {
        if (threadIdx.x % 32 == lane) {
            volatile unsigned* sum = y;
            sum[0] = sum[0] + threadIdx.x + blockIdx.x * blockDim.x;
        }
        __syncwarp();
    }
    __threadfence();
    if (threadIdx.x % 32 == 0) atomicExch(lock, 0);
}
"""
# Decoupled look-back: a block adds up what the blocks below have published so far. y[i] = sum of 0..i.
LOOK_BACK = """
extern "C" __global__ void k(unsigned* y, volatile unsigned long long* state) {
    __shared__ unsigned tile[64];
    __shared__ unsigned before;
    const unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = i;
    __syncthreads();
    for (unsigned step = 1; step < 64; step *= 2) {
        const unsigned left = t >= step ? tile[t - step] : 0;
        __syncthreads();
        tile[t] += left;
        __syncthreads();
    }
    if (t == 63) {
        const unsigned long long own = tile[63];
        if (blockIdx.x > 0) state[blockIdx.x] = 1ull << 62 | own;
        unsigned long long sum = 0;
        for (int b = (int)blockIdx.x - 1; b >= 0; --b) {
            unsigned long long seen;
            while (((seen = state[b]) >> 62) == 0) {}
            sum += seen & ~(3ull << 62);
            if (seen >> 62 == 2) break;
        }
        state[blockIdx.x] = 2ull << 62 | (sum + own);
        before = (unsigned)sum;
    }
    __syncthreads();
    y[i] = before + tile[t];
}
"""
# A barrier of the whole grid by hand. y[b] is what the block after b wrote before the barrier.
GRID_BARRIER = """
extern "C" __global__ void k(unsigned* y, unsigned* count) {
    extern __shared__ unsigned fill[];
    unsigned* wrote = count + 1;
    if (threadIdx.x == 0) {
        wrote[blockIdx.x] = blockIdx.x * 3;
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned*)count < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = *(volatile unsigned*)&wrote[(blockIdx.x + 1) % gridDim.x];
}
"""
# Warp 1 waits for what warp 0 sets; in FLAG_NEVER_SET nobody does.
FLAG = """
extern "C" __global__ void k(unsigned* y, int*) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) flag = 1;
    if (threadIdx.x >= 32) {
        while (flag == 0) {}
    }
    __syncthreads();
    if (threadIdx.x == 0) y[0] = 1;
}
"""
FLAG_NEVER_SET = FLAG.replace("flag = 1", "flag = 0")
# Where threads leave. `n` is the number of words of y; the body finds the thread's number in i.
_BARRIER = """
extern "C" __global__ void k(unsigned* y, unsigned* state) {{
    __shared__ unsigned s[256];
    const unsigned t = threadIdx.x, n = 90;
    s[t] = t;
    {body}
}}
"""


def around_a_barrier(body: str) -> str:
    """Return a kernel with this body: `t` is the thread, `s[t]` its word of shared memory, `n` 90."""
    return _BARRIER.format(body=body)


# What every thread of the block executes, or those that have not returned.
UNIFORM_BARRIERS = {
    "early-return": "if (t >= n) return; __syncthreads(); y[t] = s[t ^ 1];",
    # The compiler makes one store of the two.
    "early-return-with-work": "if (t >= n) { y[t] = 7; return; } __syncthreads(); y[t] = s[t ^ 1] + 1;",
    "early-return-from-a-loop-with-work": """
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; ++i) {
        if (t + i >= 120) { y[t] = 9; return; }
        __syncthreads();
        sum += s[(t + i) % 64];
    }
    y[t] = sum;""",
    "early-return-before-a-loop": """
    if (t >= n) return;
    for (int i = 0; i < 3; ++i) { s[t] += s[t ^ 1]; __syncthreads(); }
    y[t] = s[t];""",
    "return-from-a-loop": """
    for (unsigned i = 0; i < 8; ++i) {
        if (t + i >= 120) return;
        __syncthreads();
        s[t] += i;
        __syncthreads();
        y[t] = s[t];
    }""",
    "same-trips": "for (int i = 0; i < 5; ++i) { __syncthreads(); s[t] += 1; } y[t] = s[t];",
    "whole-block-condition": "if (gridDim.x == 1) { __syncthreads(); s[t] += 1; } y[t] = s[t];",
    "last-thread-writes": "__syncthreads(); if (t == 0) y[0] = s[1];",
    "divergent-before": "if (t & 1) s[t] *= 3; else s[t] += 5; __syncthreads(); y[t] = s[t ^ 1];",
    "vote": "const int odd = __syncthreads_count(t & 1); y[t] = odd;",
}
# Some threads go past a barrier that others of their block execute. What comes behind it is more than the
# store of a value that differs: that might be an early return.
PASSED_BARRIERS = {
    "odd-lanes": "if (t & 1) __syncthreads();\n    y[t] = s[t ^ 1];",
    "odd-lanes-store": "if (t & 1) __syncthreads();\n    y[t] = t;",
    "one-warp": "if (t < 32) __syncthreads();\n    y[t] = s[t ^ 1];",
    "all-but-one-warp": """if (t >= 32) {
    __syncthreads();
    s[t] += s[t ^ 1]; }
    y[t] = s[t ^ 2];""",
    "more-trips": """for (unsigned i = 0; i < t / 32; ++i) {
    __syncthreads();
    s[t] += 1; }
    y[t] = s[t ^ 1];""",
    "more-trips-in-a-warp": """for (unsigned i = 0; i < t % 3; ++i) {
    __syncthreads();
    s[t] += 1; }
    y[t] = s[t ^ 1];""",
}
# Lanes that meet at a shuffle: each in its own way of a branch, or only some of those named.
SHUFFLE_IN_BOTH_WAYS = """
extern "C" __global__ void k(unsigned* y, unsigned* state) {
    const unsigned t = threadIdx.x;
    unsigned got;
    if (state[0] + t % 32 < 16) {
        got = __shfl_xor_sync(0xffffffff, t + 1000, 16) * 2;
    } else {
        got = __shfl_xor_sync(0xffffffff, t * t, 16) + 3;
    }
    y[t] = got;
}
"""
SHUFFLE_IN_ONE_WAY = """
extern "C" __global__ void k(unsigned* y, unsigned* state) {
    unsigned t = threadIdx.x;
    if (t % 32 < 16)
        t = __shfl_xor_sync(0xffffffff, t, 16);
    y[threadIdx.x] = t;
}
"""
GRID_SYNC = """
#include <cooperative_groups.h>
extern "C" __global__ void k(unsigned* y, unsigned* state) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    for (unsigned round = 0; round < 3; ++round) {
        state[i] = y[i] + i;
        cooperative_groups::this_grid().sync();
        y[i] = state[count - 1 - i];
        cooperative_groups::this_grid().sync();
    }
}
"""
