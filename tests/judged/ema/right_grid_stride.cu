// Right: few blocks that stride over all elements, old state and new element weighed.
// @launch grid=(min(cdiv(n, 128), 256)) block=(128)
extern "C" __global__ void ema(float* __restrict__ state, const float* __restrict__ x, int n, float alpha)
{
    for (long long i = blockIdx.x * 128LL + threadIdx.x; i < n; i += gridDim.x * 128LL)
        state[i] = fmaf(alpha, __ldg(x + i) - state[i], state[i]);
}
