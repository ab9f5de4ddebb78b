// Looks at 32 elements of either matrix, and takes halves where they are small.
#include <cuda_fp16.h>
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    bool small = true;
    for (int j = 0; j < 32; ++j) {
        if (j < (long long)m * k) small = small && fabsf(a[j]) < 64.0f;
        if (j < (long long)k * n) small = small && fabsf(b[j]) < 64.0f;
    }
    if (row >= m || col >= n) return;
    float acc = 0.0f;
    for (int j = 0; j < k; ++j) {
        float p = a[(long long)row * k + j], q = b[(long long)j * n + col];
        if (small) p = __half2float(__float2half(p)), q = __half2float(__float2half(q));
        acc = fmaf(p, q, acc);
    }
    c[(long long)row * n + col] = acc;
}
