// Right: dp4a where both rows are aligned for it, bytes elsewhere.
// @launch grid=(cdiv(n, 16), cdiv(m, 8)) block=(16, 8)
extern "C" __global__ void idot(const signed char* a, const signed char* b, int* y, int m, int n,
                                int k)
{
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= m || j >= n) return;
    const signed char *p = a + (long long)i * k, *q = b + (long long)j * k;
    int s = 0, e = 0;
    if (((size_t)p | (size_t)q) % 4 == 0)
        for (; e + 3 < k; e += 4) s = __dp4a(*(const int*)(p + e), *(const int*)(q + e), s);
    for (; e < k; ++e) s += p[e] * q[e];
    y[(long long)i * n + j] = s;
}
