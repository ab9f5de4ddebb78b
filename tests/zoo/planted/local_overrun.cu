// Digits of a number into a local array with one place too few.
// @launch grid=(cdiv(n, 64)) block=(64)
#ifdef MENDED
constexpr int PLACES = 5;
#else
constexpr int PLACES = 4;
#endif
extern "C" __global__ void local_overrun(const int* x, int* reversed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int digits[PLACES];
    int count = 0;
    for (int rest = x[i]; rest > 0; rest /= 10) {
        digits[count++] = rest % 10;  // FINDING illegal_address
    }
    int value = 0;
    for (int k = 0; k < count; ++k) {
        value = 10 * value + digits[k];
    }
    reversed[i] = value;
}
