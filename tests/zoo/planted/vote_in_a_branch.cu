// A vote of the whole warp in a branch that some lanes do not take; they wait at the barrier behind it.
// @launch grid=(rows) block=(64)
extern "C" __global__ void vote_in_a_branch(const float* x, unsigned int* masks, int rows) {
    float value = x[blockIdx.x * 64 + threadIdx.x];
    __shared__ unsigned int mask;
    if (threadIdx.x == 0) {
        mask = 0;
    }
    __syncthreads();
#ifdef MENDED
    unsigned int large = __ballot_sync(~0u, value > 1.0f);
#endif
    if (value > 0.0f) {
#ifndef MENDED
        unsigned int large = __ballot_sync(~0u, value > 1.0f);  // FINDING absent_lane
#endif
        if (threadIdx.x < 32) {
            mask = large;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        masks[blockIdx.x] = mask;
    }
}
