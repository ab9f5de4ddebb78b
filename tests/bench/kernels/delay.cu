// y = x, and the last block goes on for STEPS dependent steps: so much longer takes the kernel.
// @launch grid=(cdiv(n, 256)) block=(256)
// @tune STEPS = 64
extern "C" __global__ void delay(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float value = x[i], same = value;
    // Blocks begin in the order of their numbers: what the last one adds, nothing hides.
    if (blockIdx.x == gridDim.x - 1) {
#pragma unroll 16
        for (int step = 0; step < STEPS; ++step) same = fmaf(same, 0.5f, 1.0f);
    }
    // Never true; the compiler cannot know, and has to keep the steps.
    y[i] = same == 1234.5f ? same : value;
}
