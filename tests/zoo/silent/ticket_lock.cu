// A ticket lock around plain updates of two words.
// @launch grid=(blocks) block=(32)
extern "C" __global__ void ticket_lock(const int* x, int* tickets, volatile int* serving, int* sums, int blocks) {
    if (threadIdx.x == 0) {
        int mine = atomicAdd(tickets, 1);
        while (*serving != mine) {
        }
        __threadfence();
        sums[0] += x[blockIdx.x];
        sums[1] -= x[blockIdx.x];
        __threadfence();
        *serving = mine + 1;
    }
}
