// Components of a graph: roots are hooked by atomicCAS, parents followed by volatile loads while others change
// them.
// @launch grid=(cdiv(edges, 64)) block=(64)
__device__ int root(volatile int* parent, int i) {
    while (parent[i] != i) {
        i = parent[i];
    }
    return i;
}
extern "C" __global__ void union_find(const int* from, const int* to, int* parent, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) {
        return;
    }
    int a = from[e], b = to[e];
    while (true) {
        a = root(parent, a);
        b = root(parent, b);
        if (a == b) {
            return;
        }
        int low = min(a, b), high = max(a, b);
        if (atomicCAS(&parent[high], high, low) == high) {
            return;
        }
    }
}
