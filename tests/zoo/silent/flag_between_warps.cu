// One warp hands a row to another by a volatile flag in shared memory, with fences and no barrier.
// @launch grid=(rows) block=(64)
extern "C" __global__ void flag_between_warps(const float* x, float* y, int rows) {
    __shared__ float row[32];
    __shared__ int flag;
    int t = threadIdx.x, lane = t & 31;
    if (t == 0) {
        flag = 0;
    }
    __syncthreads();
    if (t < 32) {
        row[lane] = 3.0f * x[blockIdx.x * 32 + lane];
        __syncwarp();
        if (lane == 0) {
            __threadfence_block();
            *(volatile int*)&flag = 1;
        }
    } else {
        while (*(volatile int*)&flag == 0) {
        }
        __threadfence_block();
        y[blockIdx.x * 32 + lane] = row[31 - lane];
    }
}
