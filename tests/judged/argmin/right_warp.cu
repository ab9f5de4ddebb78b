// Right: a warp per row, the lower place of equals.
// @launch grid=(rows) block=(32)
extern "C" __global__ void argmin(const float* x, int* y, int rows, int cols)
{
    const float* in = x + (long long)blockIdx.x * cols;
    float best = __int_as_float(0x7f800000);
    int at = 0x7fffffff;
    for (int c = threadIdx.x; c < cols; c += 32)
        if (in[c] < best || at == 0x7fffffff) {
            best = in[c];
            at = c;
        }
    for (int o = 16; o; o /= 2) {
        float b = __shfl_xor_sync(~0u, best, o);
        int a = __shfl_xor_sync(~0u, at, o);
        if (b < best || (b == best && a < at)) {
            best = b;
            at = a;
        }
    }
    if (threadIdx.x == 0) y[blockIdx.x] = at;
}
