// Right: one block per row, a tree in shared memory.
// @launch grid=(rows) block=(128)
extern "C" __global__ void gemv(const double* a, const double* x, double* y, int rows, int cols)
{
    __shared__ double red[128];
    int t = threadIdx.x;
    double s = 0.0;
    for (int c = t; c < cols; c += 128) s += a[(long long)blockIdx.x * cols + c] * x[c];
    red[t] = s;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = red[0];
}
