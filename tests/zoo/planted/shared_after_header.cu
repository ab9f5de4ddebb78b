// Pairs of floats in shared memory, behind a header of four bytes.
// @launch grid=(rows) block=(64) shared=4+64*8
extern "C" __global__ void shared_after_header(const float2* x, float* y, int rows) {
    extern __shared__ __align__(16) unsigned char space[];
#ifdef MENDED
    int* header = (int*)(space + 64 * 8);
    float2* pairs = (float2*)space;
#else
    int* header = (int*)space;
    float2* pairs = (float2*)(space + 4);
#endif
    int t = threadIdx.x;
    if (t == 0) {
        *header = 2;
    }
    pairs[t] = x[blockIdx.x * 64 + t];  // FINDING misaligned
    __syncthreads();
    y[blockIdx.x * 64 + t] = *header * (pairs[63 - t].x + pairs[t].y);
}
