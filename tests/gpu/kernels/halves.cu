// Adds a half, a bfloat16 and a double, in every precision on the way.
// @launch grid=(cdiv(n, 64)) block=(64)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void halves(const __half* h, const __nv_bfloat16* b, double* total, __half* as_half,
                                  __nv_bfloat16* as_bfloat, bool* positive, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        float sum = __half2float(h[i]) + __bfloat162float(b[i]);
        as_half[i] = __float2half(sum);
        as_bfloat[i] = __float2bfloat16(sum);
        total[i] += sum;
        positive[i] = total[i] > 0;
    }
}
