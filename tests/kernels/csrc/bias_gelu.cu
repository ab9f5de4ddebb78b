// gelu(x + bias) and its gradient, as a PyTorch extension: two kernels, and the host code that
// starts them.

#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

#include <vector>

// @cudaopt begin bias_gelu
// @launch grid=(cdiv(cols, BLOCK), rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256
#include <kit/convert.cuh>

#include "gelu.cuh"

namespace fused {

template <typename T>
__global__ void bias_gelu_kernel(const T* __restrict__ x, const T* __restrict__ bias,
                                 T* __restrict__ y, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < cols) {
    const size_t at = static_cast<size_t>(blockIdx.y) * cols + col;
    y[at] = kit::from_float<T>(gelu(kit::to_float(x[at]) + kit::to_float(bias[col])));
  }
}

}  // namespace fused
// @cudaopt end

// @cudaopt begin bias_gelu_gradient
// @launch grid=(cdiv(cols, BLOCK), rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256
#include <kit/convert.cuh>

#include "gelu.cuh"

namespace fused {

template <typename T>
__global__ void bias_gelu_gradient_kernel(const T* __restrict__ gradient, const T* __restrict__ x,
                                          const T* __restrict__ bias, T* __restrict__ out, int rows,
                                          int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col < cols) {
    const size_t at = static_cast<size_t>(blockIdx.y) * cols + col;
    const float slope = gelu_slope(kit::to_float(x[at]) + kit::to_float(bias[col]));
    out[at] = kit::from_float<T>(kit::to_float(gradient[at]) * slope);
  }
}

}  // namespace fused
// @cudaopt end

namespace {

template <typename T>
T* data(const at::Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.data_ptr());
}

void check(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_cuda() && tensor.is_contiguous(), "expected a contiguous CUDA tensor");
  TORCH_CHECK(tensor.scalar_type() == at::kHalf, "expected half precision");
}

}  // namespace

at::Tensor bias_gelu(const at::Tensor& x, const at::Tensor& bias) {
  check(x);
  check(bias);
  at::Tensor y = at::empty_like(x);
  const int cols = static_cast<int>(x.size(-1));
  const int rows = static_cast<int>(x.numel() / cols);
  const dim3 grid((cols + 127) / 128, rows);
  fused::bias_gelu_kernel<__half><<<grid, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
      data<const __half>(x), data<const __half>(bias), data<__half>(y), rows, cols);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

std::vector<at::Tensor> bias_gelu_gradient(const at::Tensor& gradient, const at::Tensor& x,
                                           const at::Tensor& bias) {
  check(x);
  check(bias);
  at::Tensor out = at::empty_like(x);
  const int cols = static_cast<int>(x.size(-1));
  const int rows = static_cast<int>(x.numel() / cols);
  const dim3 grid((cols + 127) / 128, rows);
  fused::bias_gelu_gradient_kernel<__half><<<grid, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
      data<const __half>(gradient), data<const __half>(x), data<const __half>(bias),
      data<__half>(out), rows, cols);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {out, out.sum_to_size(bias.sizes())};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("bias_gelu", &bias_gelu);
  module.def("bias_gelu_gradient", &bias_gelu_gradient);
}
