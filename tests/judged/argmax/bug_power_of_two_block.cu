// As many threads as columns, halved at each step: right where their number is a power of two.
// @launch grid=(rows) block=(max(1, min(cols, 256)))
extern "C" __global__ void argmax(const float* x, int* index, int rows, int cols)
{
    __shared__ float vs[256];
    __shared__ int is[256];
    const float* in = x + (long long)blockIdx.x * cols;
    int t = threadIdx.x, best = t;
    for (int c = t + blockDim.x; c < cols; c += blockDim.x)
        if (in[c] > in[best] || (isnan(in[c]) && !isnan(in[best]))) best = c;
    vs[t] = in[best];
    is[t] = best;
    __syncthreads();
    for (int step = blockDim.x / 2; step; step /= 2) {
        if (t < step) {
            bool nan = isnan(vs[t]), other = isnan(vs[t + step]), sooner = is[t + step] < is[t];
            if (nan || other ? other && (!nan || sooner)
                             : vs[t + step] > vs[t] || (vs[t + step] == vs[t] && sooner)) {
                vs[t] = vs[t + step];
                is[t] = is[t + step];
            }
        }
        __syncthreads();
    }
    if (t == 0) index[blockIdx.x] = is[0];
}
