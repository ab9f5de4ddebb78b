// The first thread alone writes and reads a shared word; the compiler may let all others read it, too.
// @launch grid=(rows) block=(64)
extern "C" __global__ void only_the_leader_reads(const float* x, float* y, int rows) {
    __shared__ float kept;
    int t = threadIdx.x;
    float value = x[blockIdx.x * 64 + t];
    if (t == 0) {
        kept = value;
    }
    float sum = value;
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
    }
    float own = t == 0 ? kept : 0.0f;
    y[blockIdx.x * 64 + t] = sum - own;
}
