// Compaction: one atomic per warp, ranks from the ballot, the base by shuffle.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void aggregated_append(const int* x, int* kept, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool keeps = i < n && x[i] > 0;
    unsigned int mask = __ballot_sync(~0u, keeps);
    int base = 0;
    if (lane == 0 && mask != 0) {
        base = atomicAdd(count, __popc(mask));
    }
    base = __shfl_sync(~0u, base, 0);
    if (keeps) {
        kept[base + __popc(mask & ((1u << lane) - 1))] = x[i];
    }
}
