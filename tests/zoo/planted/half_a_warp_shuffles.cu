// Half of the warp exchanges values under a mask that names the whole.
// @launch grid=(rows) block=(32)
extern "C" __global__ void half_a_warp_shuffles(const float* x, float* y, int rows) {
    int lane = threadIdx.x;
    float value = x[blockIdx.x * 32 + lane];
    if (lane < 16) {
#ifdef MENDED
        value += __shfl_xor_sync(0xffffu, value, 8);
#else
        value += __shfl_xor_sync(~0u, value, 8);  // FINDING absent_lane
#endif
    }
    y[blockIdx.x * 32 + lane] = value;
}
