// The guard lets one thread too many through.
// @launch grid=(cdiv(n + 1, 128)) block=(128)
extern "C" __global__ void guard_off_by_one(int* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
    if (i < n) {
#else
    if (i <= n) {
#endif
        y[i] = i;  // FINDING illegal_address y[1000]
    }
}
