// Both threads of a pair exchange it.
// @launch grid=(cdiv(n, 16), cdiv(n, 16)) block=(16, 16)
extern "C" __global__ void transpose_in_place(float* a, int n) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
#ifdef MENDED
    bool mine = row < column;
#else
    bool mine = row != column;
#endif
    if (row < n && column < n && mine) {
        float upper = a[row * n + column];  // ALSO race a
        float lower = a[column * n + row];  // ALSO race a
        a[row * n + column] = lower;        // FINDING race a
        a[column * n + row] = upper;        // ALSO race a
    }
}
