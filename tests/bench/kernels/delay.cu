// a + b after as many dependent steps as it is told to take: a kernel can be made a few percent slower.
// @launch grid=(cdiv(n, 256)) block=(256)
// @tune STEPS = 0
extern "C" __global__ void delay(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float value = a[i] + b[i];
    float same = value;
    // Never true; the compiler cannot know, and has to keep the steps.
    for (int step = 0; step < STEPS; ++step) same = fmaf(same, 0.5f, 1.0f);
    c[i] = same == 1234.5f ? same : value;
}
