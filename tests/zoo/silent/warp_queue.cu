// Each warp collects elements in a queue of its own in shared memory and empties it when 32 are there.
// @launch grid=(2) block=(64)
extern "C" __global__ void warp_queue(const int* x, int* kept, int* count, int n) {
    __shared__ int queues[2][64];
    int lane = threadIdx.x & 31, held = 0;
    int* queue = queues[threadIdx.x / 32];
    int first = (blockIdx.x * 64 + threadIdx.x) / 32 * 32;
    for (int base = first; base < n; base += 128) {
        int i = base + lane;
        bool keeps = i < n && x[i] > 0;
        unsigned int mask = __ballot_sync(~0u, keeps);
        if (keeps) {
            queue[held + __popc(mask & ((1u << lane) - 1))] = x[i];
        }
        held += __popc(mask);
        __syncwarp();
        if (held >= 32) {
            int at = lane == 0 ? atomicAdd(count, 32) : 0;
            kept[__shfl_sync(~0u, at, 0) + lane] = queue[lane];
            held -= 32;
            __syncwarp();
            int moved = lane < held ? queue[32 + lane] : 0;
            __syncwarp();
            if (lane < held) {
                queue[lane] = moved;
            }
        }
    }
    __syncwarp();
    int at = lane == 0 && held > 0 ? atomicAdd(count, held) : 0;
    at = __shfl_sync(~0u, at, 0);
    if (lane < held) {
        kept[at + lane] = queue[lane];
    }
}
