// One kernel for each way to fail; names say which.
#include <cuda/std/cassert>

#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void doubles(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void adds_three(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i] + 3.0f;
}

extern "C" __global__ void reads_past_the_end(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i + 1];
}

extern "C" __global__ void writes_past_the_end(const float* x, float* y, int n) {
    int i = HERE;
    if (i <= n) y[i] = i < n ? 2.0f * x[i] : 0.0f;
}

extern "C" __global__ void writes_before_the_start(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i];
    if (i == 0) y[-1] = 1.0f;
}

extern "C" __global__ void writes_far_away(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i + (1LL << 37)] = 2.0f * x[i];
}

// The null is computed at run time, so that the compiler cannot see it.
extern "C" __global__ void reads_null(const float* x, float* y, int n) {
    const float* nowhere = reinterpret_cast<const float*>(static_cast<size_t>(n) - 1000);
    int i = HERE;
    if (i < n) y[i] = nowhere[0] * x[i];
}

extern "C" __global__ void is_misaligned(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n / 8) reinterpret_cast<float4*>(y + 1)[i] = make_float4(x[i], x[i], x[i], x[i]);
}

extern "C" __global__ void traps(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i];
    if (i == n / 2) __trap();
}

extern "C" __global__ void asserts(const float* x, float* y, int n) {
    int i = HERE;
    assert(i < n / 2);
    if (i < n) y[i] = 2.0f * x[i];
}

__device__ __noinline__ float recurse(const float* x, int n, int depth) {
    volatile float kept[256];
    for (int k = 0; k < 256; ++k) kept[k] = x[k % n];
    if (depth <= 0) return kept[0];
    return recurse(x, n, depth - 1) + kept[depth % 256];
}

extern "C" __global__ void overflows_the_stack(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = recurse(x, n, n * 1000);
}

extern "C" __global__ void leaves_shared_memory(const float* x, float* y, int n) {
    __shared__ float tile[32];
    int i = HERE;
    tile[(threadIdx.x & 31) + n * 1000] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = 2.0f * tile[(threadIdx.x & 31) + n * 1000];
}

extern "C" __global__ void never_ends(const float* x, float* y, int n) {
    // Not a loop without effects, which a compiler may take for one that ends.
    while (*(volatile const float*)x < 1e30f) {
    }
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void __launch_bounds__(64) is_bounded(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void writes_its_input(const float* x, float* y, int n) {
    int i = HERE;
    if (i < n) {
        y[i] = 2.0f * x[i];
        const_cast<float*>(x)[i] = 0.0f;
    }
}
