// Persistent blocks push what they split off onto the queue they take from.
// @launch grid=(4) block=(1)
extern "C" __global__ void queue_of_work(volatile int* items, int* head, int* tail, int* pending, int* leaves) {
    while (((volatile int*)pending)[0] > 0) {
        int mine = atomicAdd(head, 0);
        if (mine >= ((volatile int*)tail)[0] || atomicCAS(head, mine, mine + 1) != mine) {
            continue;
        }
        while (items[mine] == 0) {
        }
        int depth = items[mine];
        if (depth == 1) {
            atomicAdd(leaves, 1);
        } else {
            int at = atomicAdd(tail, 2);
            atomicAdd(pending, 2);
            items[at] = depth - 1;
            items[at + 1] = depth - 1;
        }
        atomicSub(pending, 1);
    }
}
