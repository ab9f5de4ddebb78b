// Dynamic shared memory holds floats first and, after a barrier, integers at other places.
// @launch grid=(rows) block=(64) shared=4*64
extern "C" __global__ void memory_reused(const float* x, int* y, int rows) {
    extern __shared__ unsigned char space[];
    float* floats = (float*)space;
    unsigned short* ranks = (unsigned short*)space;
    int t = threadIdx.x;
    floats[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    int rank = 0;
    for (int k = 0; k < 64; ++k) {
        rank += floats[k] < floats[t];
    }
    __syncthreads();
    ranks[t] = rank;
    __syncthreads();
    y[blockIdx.x * 64 + t] = ranks[63 - t];
}
