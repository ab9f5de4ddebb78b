// A local array with indices known only at run time, each element written before it is read.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void local_table(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int counts[8];
    for (int k = 0; k < 8; ++k) {
        counts[k] = k;
    }
    for (int value = x[i]; value > 0; value /= 8) {
        counts[value % 8] += 10;
    }
    int sum = 0;
    for (int k = 0; k < 8; ++k) {
        sum = 3 * sum + counts[(k + i) % 8];
    }
    y[i] = sum;
}
