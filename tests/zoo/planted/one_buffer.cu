// Double buffering that forgot to switch: the next tile is stored over the one the others still read.
// @launch grid=(rows) block=(64)
extern "C" __global__ void one_buffer(const float* x, float* y, int rows, int tiles) {
    __shared__ float tile[2][64];
    const float* in = x + (long long)blockIdx.x * tiles * 64;
    int t = threadIdx.x, current = 0;
    float sum = 0.0f;
    tile[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
#ifdef MENDED
        int next = current ^ 1;
#else
        int next = current;
#endif
        float loaded = k + 1 < tiles ? in[(k + 1) * 64 + t] : 0.0f;
        for (int j = 0; j < 64; ++j) {
            sum += tile[current][j] * (j + t);  // FINDING race tile
        }
        tile[next][t] = loaded;  // FINDING race tile
        __syncthreads();
        current = next;
    }
    y[blockIdx.x * 64 + t] = sum;
}
