// A block of three dimensions: warps are lines of threads in the order x, y, z.
// @launch grid=(rows) block=(4, 5, 6)
extern "C" __global__ void cube_of_threads(const int* x, int* y, int rows) {
    __shared__ int tile[6][5][4];
    int a = threadIdx.x, b = threadIdx.y, c = threadIdx.z;
    const int* in = x + blockIdx.x * 120;
    tile[c][b][a] = in[(c * 5 + b) * 4 + a];
    __syncthreads();
    int turned = tile[5 - c][4 - b][3 - a];
    __syncthreads();
    tile[c][b][a] = turned + 1;
    __syncthreads();
    y[blockIdx.x * 120 + (c * 5 + b) * 4 + a] = tile[c][b][3 - a];
}
