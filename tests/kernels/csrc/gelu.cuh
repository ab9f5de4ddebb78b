// GELU by its usual approximation with tanh, and its derivative.
#pragma once

#include <c10/macros/Macros.h>

namespace fused {

constexpr float ROOT_2_OVER_PI = 0.7978845608f;
constexpr float CUBIC = 0.044715f;

__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(ROOT_2_OVER_PI * (x + CUBIC * x * x * x)));
}

__device__ __forceinline__ float gelu_slope(float x) {
  const float t = tanhf(ROOT_2_OVER_PI * (x + CUBIC * x * x * x));
  const float inner = ROOT_2_OVER_PI * (1.0f + 3.0f * CUBIC * x * x);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner;
}

}  // namespace fused
