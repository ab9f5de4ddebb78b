// An assertion that does not hold for all elements.
// @launch grid=(cdiv(n, 64)) block=(64)
#ifdef MENDED
constexpr int MOST = 10;
#else
constexpr int MOST = 9;
#endif
extern "C" __global__ void assertion(const int* x, int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(x[i] < MOST);  // FINDING trap
        y[i] = x[i] * x[i];
    }
}
