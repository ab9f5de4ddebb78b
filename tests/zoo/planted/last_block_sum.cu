// The last block to arrive adds what the others stored, but no fence stands between the store and the
// arrival.
// @launch grid=(blocks) block=(128)
__device__ unsigned int arrived = 0;
extern "C" __global__ void last_block_sum(const float* x, float* partial, float* out, int n, int blocks) {
    __shared__ float tree[128];
    __shared__ bool last;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 128 + t; i < n; i += blocks * 128) {
        sum += x[i];
    }
    tree[t] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            tree[t] += tree[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = tree[0];  // FINDING race partial
#ifdef MENDED
        __threadfence();
#endif
        last = atomicInc(&arrived, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float total = 0.0f;
        for (int b = 0; b < blocks; ++b) {
            total += __ldcg(partial + b);  // FINDING race partial
        }
        out[0] = total;
    }
}
