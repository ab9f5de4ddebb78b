// Halves the number of threads that have an element until one is left: never, where none has.
// @launch grid=(1) block=(256)
extern "C" __global__ void dot(const float* x, const float* y, float* partial, float* out, int n)
{
    __shared__ float red[256];
    int t = threadIdx.x, busy = 1;
    while (busy < 256 && busy < n) busy *= 2;
    if (n == 0) busy = 0;
    float s = 0.0f;
    for (long long i = t; i < n; i += 256) s = fmaf(x[i], y[i], s);
    red[t] = s;
    __syncthreads();
    for (; busy != 1; busy /= 2) {
        if (t < busy / 2) red[t] += red[t + busy / 2];
        __syncthreads();
    }
    if (t == 0) out[0] = red[0];
}
