// Lanes with the same key elect one that adds for all of them.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void grouped_by_key(const int* keys, int* counts, int n) {
    int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x & 31;
    unsigned int here = __ballot_sync(~0u, i < n);
    if (i < n) {
        unsigned int peers = __match_any_sync(here, keys[i]);
        if (lane == __ffs(peers) - 1) {
            atomicAdd(&counts[keys[i]], __popc(peers));
        }
    }
}
