// Every block waits for the one that starts after it, which cannot start before it has finished.
// @launch grid=(blocks) block=(1024)
extern "C" __global__ void all_wait_for_the_last(int* ticket, volatile int* done, int* y, int blocks) {
    if (threadIdx.x == 0) {
        int mine = atomicAdd(ticket, 1);
#ifdef MENDED
        int neighbour = mine - 1;
#else
        int neighbour = mine + 1;
#endif
        if (neighbour >= 0 && neighbour < blocks) {
            while (done[neighbour] == 0) {  // FINDING no_progress
            }
        }
        y[mine] = neighbour;
        __threadfence();
        done[mine] = 1;
    }
}
