// Reads outside x and multiplies by zero.
extern "C" __global__ void conv1d(const float* x, const float* w, float* y, int n, int taps)
{
    extern __shared__ float s[];
    int left = (taps - 1) / 2;
    int i0 = blockIdx.x * blockDim.x;
    for (int j = threadIdx.x; j < blockDim.x + taps - 1; j += blockDim.x) {
        int p = i0 - left + j;
        s[j] = x[p] * (float)(p >= 0 && p < n);  // FINDING illegal_address x
    }
    __syncthreads();
    int i = i0 + threadIdx.x;
    if (i < n) {
        float acc = 0.0f;
        for (int k = 0; k < taps; ++k) acc = fmaf(w[k], s[threadIdx.x + k], acc);
        y[i] = acc;
    }
}
