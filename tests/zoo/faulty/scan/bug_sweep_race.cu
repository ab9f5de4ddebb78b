extern "C" __global__ void scan_rows(const int* x, long long* y, int rows, int cols)
{
    __shared__ long long s[256];
    const int* in = x + (long long)blockIdx.x * cols;
    long long* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    long long carry = 0;
    for (int base = 0; base < cols; base += blockDim.x) {
        int c = base + t;
        s[t] = c < cols ? in[c] : 0;
        __syncthreads();
        for (int d = 1; d < blockDim.x; d <<= 1) {
            long long left = t >= d ? s[t - d] : 0;  // FINDING race s
            s[t] += left;  // FINDING race s
            __syncthreads();
        }
        if (c < cols) out[c] = carry + s[t];
        carry += s[blockDim.x - 1];
        __syncthreads();
    }
}
