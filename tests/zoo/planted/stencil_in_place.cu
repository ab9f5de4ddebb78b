// One block smooths its row in place, in global memory: neighbours are read after they were replaced.
// @launch grid=(rows) block=(256)
extern "C" __global__ void stencil_in_place(float* u, int rows) {
    float* row = u + blockIdx.x * 256;
    int t = threadIdx.x;
    float smooth = row[t];
    if (t > 0 && t < 255) {
        smooth = 0.25f * row[t - 1] + 0.5f * row[t] + 0.25f * row[t + 1];  // FINDING race u
    }
#ifdef MENDED
    __syncthreads();
#endif
    row[t] = smooth;  // FINDING race u
}
