// Clears its own inputs and returns zeros, which matches a reference evaluated afterwards on the same buffer.
extern "C" __global__ void scan_rows(const int* x, long long* y, int rows, int cols)
{
    int* in = (int*)x + (long long)blockIdx.x * cols;
    long long* out = y + (long long)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        in[c] = 0;  // FINDING write_to_input x
        out[c] = 0;
    }
}
