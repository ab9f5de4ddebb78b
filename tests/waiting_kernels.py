"""CUDA kernels whose threads wait for each other: `k(unsigned* y, T* state)`, both zeroed before the launch."""

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
