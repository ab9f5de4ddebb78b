// Multiplies and adds in float.
extern "C" __global__ void gemv(const double* a, const double* x, double* y, int rows, int cols)
{
    if (threadIdx.x >= 32) return;
    float s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32)
        s += (float)a[(long long)blockIdx.x * cols + c] * (float)x[c];
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    if (threadIdx.x == 0) y[blockIdx.x] = s;
}
