// Each thread loads at most one halo element, enough for 129 taps.
extern "C" __global__ void conv1d(const float* x, const float* w, float* y, int n, int taps)
{
    extern __shared__ float s[];
    int left = (taps - 1) / 2;
    int i0 = blockIdx.x * blockDim.x;
    int j = threadIdx.x, p = i0 - left + j;
    s[j] = p >= 0 && p < n ? x[p] : 0.0f;
    if (threadIdx.x < taps - 1) {
        j += blockDim.x;
        p += blockDim.x;
        s[j] = p >= 0 && p < n ? x[p] : 0.0f;
    }
    __syncthreads();
    int i = i0 + threadIdx.x;
    if (i < n) {
        float acc = 0.0f;
        for (int k = 0; k < taps; ++k) acc = fmaf(w[k], s[threadIdx.x + k], acc);  // FINDING uninitialized_read
        y[i] = acc;
    }
}
