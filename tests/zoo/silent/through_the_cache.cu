// Inputs through the read-only cache, a table in constant memory.
// @launch grid=(cdiv(n, 64)) block=(64)
__constant__ float taps[3] = {0.25f, 0.5f, 0.25f};
extern "C" __global__ void through_the_cache(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int k = 0; k < 3; ++k) {
            int at = i + k - 1;
            sum += at >= 0 && at < n ? taps[k] * __ldg(&x[at]) : 0.0f;
        }
        y[i] = sum;
    }
}
