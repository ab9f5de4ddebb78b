// What atomics make of a word of memory. Included by ops files only.
#pragma once

#include "sim/alu.hpp"
#include "sim/half.hpp"
#include "sim/memory.hpp"

namespace cudaopt::sim::CUDAOPT_ISA::atomic_operations {

// New values from the old one and the operands; `c` is used by cas alone.
struct Add {
  template <class T>
  static T apply(T old, T b, T) {
    return static_cast<T>(old + b);
  }
};
struct Minimum {
  template <class T>
  static T apply(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct Maximum {
  template <class T>
  static T apply(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct And {
  template <class T>
  static T apply(T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T apply(T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T old, T b, T) {
    return old ^ b;
  }
};
struct Exchange {
  template <class T>
  static T apply(T, T b, T) {
    return b;
  }
};
struct CompareAndSwap {
  template <class T>
  static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct Increment {
  template <class T>
  static T apply(T old, T b, T) {
    return old >= b ? 0 : old + 1;
  }
};
struct Decrement {
  template <class T>
  static T apply(T old, T b, T) {
    return old == 0 || old > b ? b : old - 1;
  }
};
// In global memory f32 sums flush subnormal numbers, in shared memory they do not.
struct AddFlushed {
  template <class T>
  static T apply(T old, T b, T) {
    return flush(canonical(flush(old) + flush(b)));
  }
};
struct AddFloat {
  template <class T>
  static T apply(T old, T b, T) {
    if constexpr (sizeof(T) == 8) return keeping_nan(old + b, old, b);
    return canonical(old + b);
  }
};
template <class Half>
struct AddHalf {
  template <class T>
  static T apply(T old, T b, T) {
    return static_cast<T>(Half::encode(Half::decode(old) + Half::decode(b)));
  }
};
template <class Half>
struct AddHalves {
  template <class T>
  static T apply(T old, T b, T) {
    return pair_of(Half::encode(Half::decode(low_half(old)) + Half::decode(low_half(b))),
                   Half::encode(Half::decode(high_half(old)) + Half::decode(high_half(b))));
  }
};

template <std::size_t kBytes>
struct MemoryWord;
template <>
struct MemoryWord<2> {
  using Type [[gnu::may_alias]] = std::uint16_t;
};
template <>
struct MemoryWord<4> {
  using Type [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct MemoryWord<8> {
  using Type [[gnu::may_alias]] = std::uint64_t;
};

template <class Operation, class T>
T update(std::uint8_t* host, T b, T c) {
  using Bits = typename MemoryWord<sizeof(T)>::Type;
  auto* word = reinterpret_cast<Bits*>(host);
  Bits old = __atomic_load_n(word, __ATOMIC_RELAXED);
  Bits fresh = old;
  do {
    fresh = bits_as<Bits>(Operation::template apply<T>(bits_as<T>(old), b, c));
  } while (
      !__atomic_compare_exchange_n(word, &old, fresh, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return bits_as<T>(old);
}

template <class Operation, class T>
T update_at(ptx::Space space, std::uint64_t address, std::uint8_t* host, T b, T c) {
  if constexpr (std::is_same_v<Operation, AddFloat> && std::is_same_v<T, float>) {
    const ptx::Space actual = space == ptx::Space::none ? space_of_generic(address) : space;
    if (actual == ptx::Space::global) return update<AddFlushed, float>(host, b, c);
  }
  return update<Operation, T>(host, b, c);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA::atomic_operations
