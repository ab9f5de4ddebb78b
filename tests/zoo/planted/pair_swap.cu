// Neighbouring lanes exchange values through shared memory, and nothing orders the lanes of a warp.
// @launch grid=(cdiv(n, 32)) block=(32)
extern "C" __global__ void pair_swap(const float* x, float* y, int n) {
    __shared__ float held[32];
    int lane = threadIdx.x;
    int i = blockIdx.x * 32 + lane;
    held[lane] = i < n ? x[i] : 0.0f;  // FINDING race held
#ifdef MENDED
    __syncwarp();
#endif
    if (i < n) {
        y[i] = held[lane ^ 1];  // FINDING race held
    }
}
