// Three floats in four: from local memory on, structs are copied whole, with a part nobody has written.
// @launch grid=(rows) block=(32)
struct alignas(16) Point {
    float x, y, z;
};
extern "C" __global__ void padded_vectors(const float* x, const int* chosen, float* y, int rows) {
    __shared__ Point points[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    Point own[4];
    for (int k = 0; k < 4; ++k) {
        own[k].x = x[i] + k;
        own[k].y = x[i] * k;
        own[k].z = k;
    }
    points[t] = own[chosen[i]];
    __syncwarp();
    Point other = points[31 - t];
    y[i] = other.x + other.y + other.z;
}
