// Two sweeps in one launch: the second reads what neighbouring blocks wrote in the first, and nothing orders
// blocks.
// @launch grid=(cdiv(n, 128)) block=(128) cooperative
#include <cooperative_groups.h>
extern "C" __global__ void two_sweeps(const float* u, float* v, float* w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool inside = i > 0 && i < n - 1;
    if (i < n) {
        v[i] = inside ? 0.5f * (u[i - 1] + u[i + 1]) : u[i];  // FINDING race v
    }
#ifdef MENDED
    cooperative_groups::this_grid().sync();
#else
    __syncthreads();
#endif
    if (i < n) {
        w[i] = inside ? 0.5f * (v[i - 1] + v[i + 1]) : v[i];  // FINDING race v
    }
}
