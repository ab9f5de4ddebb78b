// Right: Blelloch's scan of 256 elements at a time.
// @launch grid=(rows) block=(128)
extern "C" __global__ void isum(const int* x, int* y, int rows, int n)
{
    __shared__ int s[256];
    const int* in = x + (long long)blockIdx.x * n;
    int* out = y + (long long)blockIdx.x * n;
    int t = threadIdx.x, carry = 0;
    for (int b = 0; b < n; b += 256) {
        int p = b + 2 * t, v0 = p < n ? in[p] : 0, v1 = p + 1 < n ? in[p + 1] : 0;
        s[2 * t] = v0;
        s[2 * t + 1] = v1;
        int off = 1;
        for (int d = 128; d > 0; d >>= 1) {
            __syncthreads();
            if (t < d) s[off * (2 * t + 2) - 1] += s[off * (2 * t + 1) - 1];
            off *= 2;
        }
        __syncthreads();
        int total = s[255];
        __syncthreads();
        if (t == 0) s[255] = 0;
        for (int d = 1; d < 256; d *= 2) {
            off >>= 1;
            __syncthreads();
            if (t < d) {
                int a = off * (2 * t + 1) - 1, c = off * (2 * t + 2) - 1, u = s[a];
                s[a] = s[c];
                s[c] += u;
            }
        }
        __syncthreads();
        if (p < n) out[p] = carry + s[2 * t] + v0;
        if (p + 1 < n) out[p + 1] = carry + s[2 * t + 1] + v1;
        carry += total;
        __syncthreads();
    }
}
