// Right: radix 2 in shared memory.
// @launch grid=(batch) block=(32)
extern "C" __global__ void fft64(const float* x, float* y, int batch)
{
    __shared__ float2 s[64];
    const float* in = x + (long long)blockIdx.x * 128;
    int t = threadIdx.x;
    for (int i = t; i < 64; i += 32) {
        int r = __brev(i) >> 26;
        s[r] = make_float2(in[2 * i], in[2 * i + 1]);
    }
    __syncthreads();
    for (int half = 1; half < 64; half *= 2) {
        int j = t & (half - 1), a = (t - j) * 2 + j, b = a + half;
        float sn, cs;
        sincospif(-(float)j / half, &sn, &cs);
        float2 u = s[a], v = s[b];
        float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
        __syncthreads();
        s[a] = make_float2(u.x + w.x, u.y + w.y);
        s[b] = make_float2(u.x - w.x, u.y - w.y);
        __syncthreads();
    }
    for (int i = t; i < 64; i += 32) {
        y[(long long)blockIdx.x * 128 + 2 * i] = s[i].x;
        y[(long long)blockIdx.x * 128 + 2 * i + 1] = s[i].y;
    }
}
