// Right: one block per row; the first of equals wins, and NaN is larger than any number, as in NumPy.
// @launch grid=(rows) block=(128)
__device__ bool better(float v, int i, float w, int j)
{
    if (isnan(v) || isnan(w)) return isnan(v) && (!isnan(w) || i < j);
    return v > w || (v == w && i < j);
}
extern "C" __global__ void argmax(const float* x, int* index, int rows, int cols)
{
    __shared__ float vs[128];
    __shared__ int is[128];
    const float* in = x + (long long)blockIdx.x * cols;
    int t = threadIdx.x, best = t;
    float v = t < cols ? in[t] : 0.0f;
    for (int c = t + 128; c < cols; c += 128)
        if (better(in[c], c, v, best)) v = in[c], best = c;
    vs[t] = v;
    is[t] = best;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step && is[t + step] < cols && better(vs[t + step], is[t + step], vs[t], is[t])) {
            vs[t] = vs[t + step];
            is[t] = is[t + step];
        }
        __syncthreads();
    }
    if (t == 0) index[blockIdx.x] = is[0];
}
