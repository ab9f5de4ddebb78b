// Right: float4 where both arrays are aligned for it, scalars elsewhere.
// @launch grid=(cdiv(n, 1024)) block=(256)
extern "C" __global__ void ema(float* state, const float* x, int n, float alpha)
{
    long long i = 4 * (blockIdx.x * 256LL + threadIdx.x);
    if (i + 3 < n && ((size_t)state | (size_t)x) % 16 == 0) {
        float4 s = *(float4*)(state + i), v = *(const float4*)(x + i);
        s.x += alpha * (v.x - s.x), s.y += alpha * (v.y - s.y);
        s.z += alpha * (v.z - s.z), s.w += alpha * (v.w - s.w);
        *(float4*)(state + i) = s;
    } else {
        for (long long j = i; j < i + 4 && j < n; ++j) state[j] += alpha * (x[j] - state[j]);
    }
}
