// Every thread writes one byte, in shared and in global memory; words are shared by four of them.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void bytes_of_neighbours(const float* x, unsigned char* y, int n) {
    __shared__ unsigned char levels[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    levels[t] = i < n ? (unsigned char)(255.0f * x[i]) : 0;
    unsigned char own = levels[t];
    __syncthreads();
    if (i < n) {
        y[i] = own / 2 + levels[127 - t] / 2;
    }
}
