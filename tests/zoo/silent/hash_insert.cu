// Keys into an open table: atomicCAS claims a slot, the claimer stores the value.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void hash_insert(const int* keys, int* table, int* values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned int slot = keys[i] * 2654435761u % 512;
    while (true) {
        int found = atomicCAS(&table[slot], -1, keys[i]);
        if (found == -1) {
            values[slot] = keys[i] + 1;
            return;
        }
        if (found == keys[i]) {
            return;
        }
        slot = (slot + 1) % 512;
    }
}
