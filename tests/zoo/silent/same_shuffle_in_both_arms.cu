// Both arms of a branch execute the same shuffle with the same mask: all lanes come to one.
// @launch grid=(rows) block=(32)
extern "C" __global__ void same_shuffle_in_both_arms(const int* x, int* y, int rows) {
    int lane = threadIdx.x, value = x[blockIdx.x * 32 + lane], other;
    if (lane % 2 == 0) {
        value += 5;
        other = __shfl_xor_sync(~0u, value, 1);
        other *= 2;
    } else {
        value -= 3;
        other = __shfl_xor_sync(~0u, value, 1);
        other *= 3;
    }
    y[blockIdx.x * 32 + lane] = other;
}
