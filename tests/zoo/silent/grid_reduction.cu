// Mean and deviation in one cooperative launch: two reductions of partial sums, each behind a grid barrier.
// @launch grid=(blocks) block=(64) cooperative
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ float block_sum(float value, float* tree) {
    int t = threadIdx.x;
    __syncthreads();
    tree[t] = value;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            tree[t] += tree[t + half];
        }
        __syncthreads();
    }
    return tree[0];
}
extern "C" __global__ void grid_reduction(const float* x, float* y, float* partial, int n, int blocks) {
    __shared__ float tree[64];
    cg::grid_group grid = cg::this_grid();
    int t = threadIdx.x, step = blocks * 64;
    float sum = 0.0f;
    for (int i = blockIdx.x * 64 + t; i < n; i += step) {
        sum += x[i];
    }
    sum = block_sum(sum, tree);
    if (t == 0) {
        partial[blockIdx.x] = sum;
    }
    grid.sync();
    float mean = 0.0f;
    for (int b = 0; b < blocks; ++b) {
        mean += partial[b] / n;
    }
    grid.sync();
    sum = 0.0f;
    for (int i = blockIdx.x * 64 + t; i < n; i += step) {
        sum += (x[i] - mean) * (x[i] - mean);
    }
    sum = block_sum(sum, tree);
    if (t == 0) {
        partial[blockIdx.x] = sum;
    }
    grid.sync();
    float variance = 0.0f;
    for (int b = 0; b < blocks; ++b) {
        variance += partial[b] / n;
    }
    for (int i = blockIdx.x * 64 + t; i < n; i += step) {
        y[i] = (x[i] - mean) * rsqrtf(variance);
    }
}
