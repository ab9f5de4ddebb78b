// Everybody adds to one float, and to one double.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void float_atomics(const float* x, float* sum, double* wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(sum, x[i]);
        atomicAdd(wide, (double)x[i]);
    }
}
