// A tile of 64 is filled back to front from one place too far: the first thread hits the array behind it.
// @launch grid=(rows) block=(96)
struct Both {
    float tile[64];
    float edge[32];
};
extern "C" __global__ void overrun_into_next(const float* x, float* y, int rows) {
    __shared__ Both shared;
    int t = threadIdx.x;
    const float* in = x + blockIdx.x * 96;
#ifdef MENDED
    int last = 63;
#else
    int last = 64;
#endif
    if (t < 64) {
        shared.tile[last - t] = -in[t];  // FINDING race shared
    } else {
        shared.edge[t - 64] = in[t];  // FINDING race shared
    }
    __syncthreads();
    y[blockIdx.x * 96 + t] = t < 64 ? shared.tile[t] : shared.edge[t - 64];  // ALSO uninitialized_read shared
}
