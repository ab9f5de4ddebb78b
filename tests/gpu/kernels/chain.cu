// As many dependent steps as it is told to take: twice the steps, twice the time beyond the launch.
// @launch grid=(cdiv(n, 256)) block=(256)
// @tune STEPS = 1000
extern "C" __global__ void chain(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int step = 0; step < STEPS; ++step) value = fmaf(value, 0.5f, 1.0f);
    y[i] = value;
}
