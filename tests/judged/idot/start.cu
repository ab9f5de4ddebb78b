// Right: one thread per element.
// @launch grid=(cdiv(n, 16), cdiv(m, 8)) block=(16, 8)
extern "C" __global__ void idot(const signed char* a, const signed char* b, int* y, int m, int n,
                                int k)
{
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= m || j >= n) return;
    int s = 0;
    for (int e = 0; e < k; ++e) s += a[(long long)i * k + e] * b[(long long)j * k + e];
    y[(long long)i * n + j] = s;
}
