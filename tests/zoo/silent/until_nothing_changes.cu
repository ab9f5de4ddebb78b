// Labels spread along a row until a shared flag, set by whoever changed something, stays clear.
// @launch grid=(rows) block=(64)
extern "C" __global__ void until_nothing_changes(const int* x, int* labels, int rows) {
    __shared__ int label[64];
    __shared__ bool changed;
    int t = threadIdx.x, same = x[blockIdx.x * 64 + t];
    label[t] = same > 0 ? t : 64;
    bool again;
    do {
        if (t == 0) {
            changed = false;
        }
        __syncthreads();
        int left = t > 0 ? label[t - 1] : 64;
        bool lower = same > 0 && left < label[t];
        __syncthreads();
        if (lower) {
            label[t] = left;
            changed = true;
        }
        __syncthreads();
        again = changed;
        __syncthreads();
    } while (again);
    labels[blockIdx.x * 64 + t] = label[t];
}
