// Sorts as floats, of which not every integer beyond 2^24 is one.
extern "C" __global__ void sort_rows(const int* x, int* y, int rows, int cols)
{
    const int* in = x + (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        float key = (float)in[i];
        int rank = 0;
        for (int j = 0; j < cols; ++j) rank += (float)in[j] < key || ((float)in[j] == key && j < i);
        y[(long long)blockIdx.x * cols + rank] = (int)key;
    }
}
