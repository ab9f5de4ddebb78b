// FP32 fused multiply-adds and nothing else that takes time: CHAINS independent ones hide their latency,
// STEPS of each are unrolled so that the loop's own instructions do not count. The store at the end keeps
// the compiler from dropping them.

extern "C" __global__ void fma_rate(float* out, float factor, float term, int rounds) {
    float sums[CHAINS];
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) sums[chain] = threadIdx.x + chain;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
#pragma unroll
            for (int chain = 0; chain < CHAINS; ++chain) {
                sums[chain] = fmaf(sums[chain], factor, term);
            }
        }
    }
    float total = 0.0f;
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) total += sums[chain];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
