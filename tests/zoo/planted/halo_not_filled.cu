// A tile with a halo on both sides, of which only the left one is loaded.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void halo_not_filled(const float* x, float* y, int n) {
    __shared__ float tile[130];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t + 1] = i < n ? x[i] : 0.0f;
    if (t == 0) {
        tile[0] = i > 0 ? x[i - 1] : 0.0f;
#ifdef MENDED
        tile[129] = i + 128 < n ? x[i + 128] : 0.0f;
#endif
    }
    __syncthreads();
    if (i < n) {
        y[i] = tile[t] + tile[t + 1] + tile[t + 2];  // FINDING uninitialized_read tile
    }
}
