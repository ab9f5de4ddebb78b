// A tile is read back to front before every warp has written its part.
// @launch grid=(n / 256) block=(256)
extern "C" __global__ void reversed_tile(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 256 + t];  // FINDING race tile
#ifdef MENDED
    __syncthreads();
#endif
    y[blockIdx.x * 256 + t] = tile[255 - t];  // FINDING race tile
}
