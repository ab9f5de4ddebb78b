// Pads with a number that is larger than those that are usually sorted.
extern "C" __global__ void sort_rows(const int* x, int* y, int rows, int cols)
{
    extern __shared__ int s[];
    int size = 1;
    while (size < cols) size *= 2;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        s[i] = i < cols ? x[(long long)blockIdx.x * cols + i] : 1 << 24;
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step; step /= 2) {
            for (int i = threadIdx.x; i < size; i += blockDim.x) {
                int j = i ^ step;
                if (j > i && (s[i] > s[j]) == !(i & run)) {
                    int kept = s[i];
                    s[i] = s[j];
                    s[j] = kept;
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(long long)blockIdx.x * cols + i] = s[i];
}
