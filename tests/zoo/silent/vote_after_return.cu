// Threads beyond the end have left; a mask may name them, for only those that are alive must come.
// @launch grid=(cdiv(n, 32)) block=(32)
extern "C" __global__ void vote_after_return(const float* x, unsigned int* masks, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned int mask = __ballot_sync(~0u, x[i] > 0.0f);
    if (threadIdx.x == 0) {
        masks[blockIdx.x] = mask;
    }
}
