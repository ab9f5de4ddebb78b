// Multiplies and adds in half precision, in four sums.
#include <cuda_fp16.h>
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || col >= n) return;
    __half acc[4] = {};
    for (int j = 0; j < k; ++j)
        acc[j % 4] = __hfma(
            __float2half(a[(long long)row * k + j]), __float2half(b[(long long)j * n + col]), acc[j % 4]);
    c[(long long)row * n + col] = __half2float(__hadd(__hadd(acc[0], acc[1]), __hadd(acc[2], acc[3])));
}
