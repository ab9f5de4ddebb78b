// Right: a warp per row, the largest magnitude through shuffles.
// @launch grid=(cdiv(rows, 4)) block=(128)
extern "C" __global__ void quantise(
    const float* __restrict__ x, signed char* q, float* scale, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    long long r = blockIdx.x * 4LL + threadIdx.x / 32;
    if (r >= rows) return;
    const float* in = x + r * cols;
    float m = 0.0f;
    for (int c = lane; c < cols; c += 32) m = fmaxf(m, fabsf(__ldg(in + c)));
    for (int step = 16; step; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    if (lane == 0) scale[r] = m / 127.0f;
    for (int c = lane; c < cols; c += 32)
        q[r * cols + c] = m > 0.0f ? (signed char)rintf(__ldg(in + c) / m * 127.0f) : 0;
}
