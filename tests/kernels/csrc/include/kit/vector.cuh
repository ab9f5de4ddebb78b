// Sixteen bytes at a time.
#pragma once

namespace kit {

template <typename T>
struct alignas(16) Packed {
  static constexpr int count = 16 / sizeof(T);
  T at[count];
};

template <typename T>
__device__ __forceinline__ Packed<T> load_packed(const T* from) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  Packed<T> packed;
  memcpy(&packed, &raw, sizeof(raw));
  return packed;
}

template <typename T>
__device__ __forceinline__ void store_packed(T* to, const Packed<T>& packed) {
  uint4 raw;
  memcpy(&raw, &packed, sizeof(raw));
  *reinterpret_cast<uint4*>(to) = raw;
}

}  // namespace kit
