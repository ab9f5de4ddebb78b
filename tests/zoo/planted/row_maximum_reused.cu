// Softmax of a row: the array of the maximum is used again for the sum while slow warps still read the
// maximum.
// @launch grid=(rows) block=(128)
extern "C" __global__ void row_maximum_reused(const float* x, float* y, int rows, int cols) {
    __shared__ float partial[128];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float most = -3.0e38f;
    for (int c = t; c < cols; c += 128) {
        most = fmaxf(most, in[c]);
    }
    partial[t] = most;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            partial[t] = fmaxf(partial[t], partial[t + half]);
        }
        __syncthreads();
    }
    most = partial[0];  // FINDING race partial
#ifdef MENDED
    __syncthreads();
#endif
    float sum = 0.0f;
    for (int c = t; c < cols; c += 128) {
        sum += expf(in[c] - most);
    }
    partial[t] = sum;  // FINDING race partial
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            partial[t] += partial[t + half];
        }
        __syncthreads();
    }
    for (int c = t; c < cols; c += 128) {
        out[c] = expf(in[c] - most) / partial[0];
    }
}
