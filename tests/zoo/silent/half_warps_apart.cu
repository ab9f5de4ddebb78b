// Each half of a warp synchronises itself by a mask of its own.
// @launch grid=(rows) block=(32)
extern "C" __global__ void half_warps_apart(const int* x, int* y, int rows) {
    __shared__ int held[32];
    int lane = threadIdx.x;
    unsigned int mask = lane < 16 ? 0xffffu : 0xffff0000u;
    held[lane] = x[blockIdx.x * 32 + lane];
    __syncwarp(mask);
    int value = held[lane ^ 15];
    __syncwarp(mask);
    if (lane < 16) {
        held[lane] = value + 1;
        __syncwarp(0xffffu);
        value = held[lane ^ 1];
    }
    y[blockIdx.x * 32 + lane] = value;
}
