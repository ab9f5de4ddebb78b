// Right: a warp per point, the lower number of equals.
// @launch grid=(n) block=(32)
extern "C" __global__ void kmeans(const float* x, const float* c, int* label, int n, int k, int d)
{
    int i = blockIdx.x, t = threadIdx.x;
    float best = __int_as_float(0x7f800000);
    int at = 0x7fffffff;
    for (int j = t; j < k; j += 32) {
        float s = 0;
        for (int e = 0; e < d; ++e) {
            float u = x[(long long)i * d + e] - c[(long long)j * d + e];
            s = fmaf(u, u, s);
        }
        if (s < best) {
            best = s;
            at = j;
        }
    }
    for (int o = 16; o; o /= 2) {
        float b = __shfl_xor_sync(~0u, best, o);
        int a = __shfl_xor_sync(~0u, at, o);
        if (b < best || (b == best && a < at)) {
            best = b;
            at = a;
        }
    }
    if (t == 0) label[i] = at == 0x7fffffff ? 0 : at;
}
