// The barrier stands after the inner loop instead of in it.
// @launch grid=(rows) block=(256)
extern "C" __global__ void bitonic_sort(const float* x, float* y, int rows) {
    __shared__ float keys[256];
    int t = threadIdx.x;
    keys[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int partner = t ^ stride;
            if (partner > t) {
                float low = keys[t];         // FINDING race keys
                float high = keys[partner];  // ALSO race keys
                bool ascending = (t & size) == 0;
                if ((low > high) == ascending) {
                    keys[t] = high;       // ALSO race keys
                    keys[partner] = low;  // FINDING race keys
                }
            }
#ifdef MENDED
            __syncthreads();
#endif
        }
#ifndef MENDED
        __syncthreads();
#endif
    }
    y[blockIdx.x * 256 + t] = keys[t];
}
