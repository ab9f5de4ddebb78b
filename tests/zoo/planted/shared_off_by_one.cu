// One element past the end of the only array in shared memory.
// @launch grid=(rows) block=(128)
extern "C" __global__ void shared_off_by_one(const float* x, float* y, int rows) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
#ifdef MENDED
    float next = t < 127 ? tile[t + 1] : 0.0f;
#else
    float next = tile[t + 1];  // FINDING illegal_address
#endif
    y[blockIdx.x * 128 + t] = next - tile[t];
}
