// Layer normalisation of every row; `bias` may be null. One block per row, mean first, then the
// variance.
//
// @launch grid=(rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

#include <kit/convert.cuh>
#include <kit/reduce.cuh>

namespace normalisation {

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    layer_norm(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
               T* __restrict__ y, float epsilon, int rows, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;

  float sum = 0.0f;
  for (int col = threadIdx.x; col < cols; col += BLOCK) {
    sum += kit::to_float(x[row + col]);
  }
  const float mean = kit::block_reduce<BLOCK>(sum, kit::Sum{}) / cols;

  float squares = 0.0f;
  for (int col = threadIdx.x; col < cols; col += BLOCK) {
    const float centred = kit::to_float(x[row + col]) - mean;
    squares += centred * centred;
  }
  const float factor = rsqrtf(kit::block_reduce<BLOCK>(squares, kit::Sum{}) / cols + epsilon);

  for (int col = threadIdx.x; col < cols; col += BLOCK) {
    const float scaled = (kit::to_float(x[row + col]) - mean) * factor * kit::to_float(weight[col]);
    y[row + col] = kit::from_float<T>(bias == nullptr ? scaled : scaled + kit::to_float(bias[col]));
  }
}

}  // namespace normalisation
