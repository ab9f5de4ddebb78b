// The best four of a row in a local array, of which a short row fills only a part.
// @launch grid=(1) block=(32)
extern "C" __global__ void best_of_few(const float* x, const int* lengths, float* best, int rows) {
    int row = threadIdx.x;
    if (row >= rows) {
        return;
    }
    float kept[4];
#ifdef MENDED
    for (int k = 0; k < 4; ++k) {
        kept[k] = -1.0f;
    }
#endif
    int filled = 0;
    for (int c = 0; c < lengths[row]; ++c) {
        float value = x[row * 8 + c];
        if (filled == 4 && kept[3] >= value) {
            continue;
        }
        int at = filled < 4 ? filled++ : 3;
        for (; at > 0 && kept[at - 1] < value; --at) {
            kept[at] = kept[at - 1];
        }
        kept[at] = value;
    }
    for (int k = 0; k < 4; ++k) {
        best[row * 4 + k] = kept[k];  // FINDING uninitialized_read
    }
}
