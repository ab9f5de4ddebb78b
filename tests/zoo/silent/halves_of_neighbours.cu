// Every thread writes one half; warps and blocks meet within a word.
// @launch grid=(cdiv(n, 33)) block=(33)
#include <cuda_fp16.h>
extern "C" __global__ void halves_of_neighbours(const __half* x, __half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = __float2half(2.0f * __half2float(x[i]));
    }
}
