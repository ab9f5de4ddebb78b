// Right: every element counts those that come before it, equals by their place.
// @launch grid=(rows) block=(128)
extern "C" __global__ void sort_rows(const int* __restrict__ x, int* __restrict__ y, int rows, int cols)
{
    const int* in = x + (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += 128) {
        int v = __ldg(in + i), rank = 0;
        for (int j = 0; j < cols; ++j) rank += __ldg(in + j) < v || (__ldg(in + j) == v && j < i);
        y[(long long)blockIdx.x * cols + rank] = v;
    }
}
