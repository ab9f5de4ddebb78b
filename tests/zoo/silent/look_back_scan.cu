// Decoupled look-back: a block publishes its total, then its prefix, in one word with the flag that says
// which; later blocks add totals until they meet a prefix.
// @launch grid=(cdiv(n, 128)) block=(128)
enum : unsigned long long { EMPTY = 0, TOTAL = 1ull << 32, PREFIX = 2ull << 32 };
extern "C" __global__ void look_back_scan(const int* x, int* y, int* ticket, unsigned long long* state, int n) {
    __shared__ int tile, before;
    __shared__ int sums[128];
    int t = threadIdx.x;
    if (t == 0) {
        tile = atomicAdd(ticket, 1);
    }
    __syncthreads();
    int i = tile * 128 + t;
    sums[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        unsigned int total = sums[127], sum = 0;
        volatile unsigned long long* seen = state;
        if (tile > 0) {
            atomicExch(&state[tile], TOTAL | total);
            for (int k = tile - 1;;) {
                unsigned long long word = seen[k];
                if (word >> 32 == 0) {
                    continue;
                }
                sum += (unsigned int)word;
                if (word >= PREFIX) {
                    break;
                }
                --k;
            }
        }
        atomicExch(&state[tile], PREFIX | (sum + total));
        before = sum;
    }
    __syncthreads();
    if (i < n) {
        y[i] = sums[t] + before;
    }
}
