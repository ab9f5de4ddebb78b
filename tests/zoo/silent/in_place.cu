// Every thread reads and writes its own four elements.
// @launch grid=(cdiv(n, 4 * 64)) block=(64)
extern "C" __global__ void in_place(float4* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i < n) {
        float4 four = x[i];
        x[i] = make_float4(four.w, four.z, four.y, four.x);
    }
}
