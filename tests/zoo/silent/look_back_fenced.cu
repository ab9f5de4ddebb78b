// Look-back with flag and value apart: the fence between the two stores is what makes it right, and the
// reader's fence between its two loads.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void look_back_fenced(const int* x, int* y, int* ticket, int* prefixes, int* flags, int n) {
    __shared__ int tile, before;
    __shared__ int sums[64];
    int t = threadIdx.x;
    if (t == 0) {
        tile = atomicAdd(ticket, 1);
    }
    __syncthreads();
    int i = tile * 64 + t;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 64; ++k) {
            sums[k] += sums[k - 1];
        }
        before = 0;
        if (tile > 0) {
            while (((volatile int*)flags)[tile - 1] == 0) {
            }
            __threadfence();
            before = __ldcg(&prefixes[tile - 1]);
        }
        prefixes[tile] = before + sums[63];
        __threadfence();
        ((volatile int*)flags)[tile] = 1;
    }
    __syncthreads();
    if (i < n) {
        y[i] = sums[t] + before;
    }
}
