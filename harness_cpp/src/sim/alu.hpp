// Handler templates: one plain function of lane values becomes the `full` and `masked` handlers
// that apply it to 32 lanes. Knows nothing about any instruction. Everything is inside CUDAOPT_ISA:
// a copy shared by both instruction sets could be the wrong one.
#pragma once

#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "sim/machine.hpp"

// Lane functions must disappear into the loop over the lanes, or it would not vectorise.
#define CUDAOPT_INLINE [[gnu::always_inline]] inline

namespace cudaopt::sim::CUDAOPT_ISA {

// Lane values as they lie in a register. The memory is written and read as whatever each
// instruction says, so the pointers may alias.
template <bool kWide>
struct LaneStorage {
  using Value = std::uint32_t;
  using Aliased [[gnu::may_alias]] = std::uint32_t;
};
template <>
struct LaneStorage<true> {
  using Value = std::uint64_t;
  using Aliased [[gnu::may_alias]] = std::uint64_t;
};
template <class T>
using LaneOf = typename LaneStorage<sizeof(T) == 8>::Value;
template <class T>
using LanePointer = typename LaneStorage<sizeof(T) == 8>::Aliased*;

template <class To, class From>
CUDAOPT_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
CUDAOPT_INLINE T from_lane(LaneOf<T> lane) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(lane);
  } else {
    return bits_as<T>(lane);
  }
}

// Narrow values are stored with zero upper bits, whatever their sign.
template <class T>
CUDAOPT_INLINE LaneOf<T> to_lane(T value) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else {
    return bits_as<LaneOf<T>>(value);
  }
}

template <class T>
CUDAOPT_INLINE LanePointer<T> lane_pointer(Warp& warp, std::int32_t offset) {
  return static_cast<LanePointer<T>>(__builtin_assume_aligned(warp.registers + offset, 64));
}

// One bit per lane; a table, because shifting by the lane number does not vectorise everywhere.
inline constexpr std::uint32_t kLaneBits[kLanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

// The instruction's own flags (a combination a family defines), for functions that want them first.
struct Flags {
  std::int32_t bits = 0;
  [[nodiscard, gnu::always_inline]] bool has(std::int32_t flag) const { return (bits & flag) != 0; }
};

// Operand `k` of an instruction as something to index by lane.
template <class T>
struct Source {
  LanePointer<T> lane;
  CUDAOPT_INLINE Source(Warp& warp, const Op& op, int k)
      : lane(lane_pointer<T>(warp, op.src[static_cast<std::size_t>(k)])) {}
  CUDAOPT_INLINE T operator[](int i) const { return from_lane<T>(lane[i]); }
};

template <>
struct Source<bool> {
  std::uint32_t bits;
  CUDAOPT_INLINE Source(Warp& warp, const Op& op, int k)
      : bits(warp.predicates[op.src[static_cast<std::size_t>(k)]] ^
             (0u - ((op.src_negated >> k) & 1u))) {}
  CUDAOPT_INLINE bool operator[](int i) const { return (bits & kLaneBits[i]) != 0; }
};

struct Absent {};  // stands for operands a function does not have

template <>
struct Source<Absent> {
  CUDAOPT_INLINE Source(Warp&, const Op&, int) {}
};

template <class T>
constexpr Slot slot_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return Slot::predicate;
  } else {
    return sizeof(T) == 8 ? Slot::b64 : Slot::b32;
  }
}

CUDAOPT_INLINE void write_predicate(Warp& warp, std::int32_t index, std::uint32_t bits,
                                    std::uint32_t mask) {
  std::uint32_t& predicate = warp.predicates[index];
  predicate = (predicate & ~mask) | (bits & mask);
}

// The blend every masked handler ends with.
CUDAOPT_INLINE std::uint32_t blend(std::uint32_t fresh, std::uint32_t old,
                                   std::uint32_t lane_mask_word) {
  return (fresh & lane_mask_word) | (old & ~lane_mask_word);
}
CUDAOPT_INLINE std::uint64_t blend(std::uint64_t fresh, std::uint64_t old,
                                   std::uint32_t lane_mask_word) {
  const auto wide = static_cast<std::uint64_t>(
      static_cast<std::int64_t>(static_cast<std::int32_t>(lane_mask_word)));
  return (fresh & wide) | (old & ~wide);
}

// Writes a computed array of lane values, keeping the lanes outside `mask`.
template <class T>
CUDAOPT_INLINE void store_lanes(Warp& warp, std::int32_t offset, const T* values,
                                std::uint32_t mask) {
  const LanePointer<T> out = lane_pointer<T>(warp, offset);
  const std::uint32_t* words = lane_mask(warp, mask);
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) out[i] = blend(to_lane(values[i]), out[i], words[i]);
}

template <class Result, class... Arguments>
struct Signature {
  static constexpr int kCount = sizeof...(Arguments);
  template <int K>
  using Argument =
      std::tuple_element_t<K, std::tuple<Arguments..., Absent, Absent, Absent, Absent>>;
};

// `Call` applies the function with the instruction's flags bound.
template <class Call, class Result, class... Arguments>
struct Lanewise {
  using Types = Signature<Result, Arguments...>;
  template <int K>
  using Argument = typename Types::template Argument<K>;

  struct Sources {
    Source<Argument<0>> a;
    Source<Argument<1>> b;
    Source<Argument<2>> c;
    Source<Argument<3>> d;
    Flags flags;
    CUDAOPT_INLINE Sources(Warp& warp, const Op& op)
        : a(warp, op, 0), b(warp, op, 1), c(warp, op, 2), d(warp, op, 3), flags{op.aux} {}
    CUDAOPT_INLINE Result operator()(int i) const {
      if constexpr (Types::kCount == 1) return Call::apply(flags, a[i]);
      if constexpr (Types::kCount == 2) return Call::apply(flags, a[i], b[i]);
      if constexpr (Types::kCount == 3) return Call::apply(flags, a[i], b[i], c[i]);
      if constexpr (Types::kCount == 4) return Call::apply(flags, a[i], b[i], c[i], d[i]);
    }
  };

  static std::int32_t to_predicate(Warp& warp, const Op& op, std::uint32_t mask) {
    const Sources sources(warp, op);
    std::uint32_t bits = 0;
    for (int i = 0; i < kLanes; ++i) bits |= sources(i) ? kLaneBits[i] : 0u;
    write_predicate(warp, op.dst[0], bits, mask);
    return op.pc + 1;
  }

  static std::int32_t full(Warp& warp, const Op& op, std::uint32_t) {
    const Sources sources(warp, op);
    const LanePointer<Result> out = lane_pointer<Result>(warp, op.dst[0]);
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) out[i] = to_lane<Result>(sources(i));
    return op.pc + 1;
  }

  static std::int32_t masked(Warp& warp, const Op& op, std::uint32_t mask) {
    const Sources sources(warp, op);
    const LanePointer<Result> out = lane_pointer<Result>(warp, op.dst[0]);
    const std::uint32_t* words = lane_mask(warp, mask);
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) out[i] = blend(to_lane<Result>(sources(i)), out[i], words[i]);
    return op.pc + 1;
  }

  // For functions too long or too rare to vectorise: only the lanes that execute.
  static std::int32_t one_by_one(Warp& warp, const Op& op, std::uint32_t mask) {
    const Sources sources(warp, op);
    const LanePointer<Result> out = lane_pointer<Result>(warp, op.dst[0]);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctz(rest);
      out[i] = to_lane<Result>(sources(i));
    }
    return op.pc + 1;
  }

  static Binding slots(Pipe pipe, std::uint16_t latency, Flags flags) {
    Binding binding;
    binding.pipe = pipe;
    binding.latency = latency;
    binding.aux = flags.bits;
    binding.dst[0] = slot_of<Result>();
    std::size_t next = 0;
    ((binding.src[next++] = slot_of<Arguments>()), ...);
    return binding;
  }

  static Binding vector(Pipe pipe, std::uint16_t latency, Flags flags) {
    Binding binding = slots(pipe, latency, flags);
    if constexpr (std::is_same_v<Result, bool>) {
      binding.full = binding.masked = to_predicate;
    } else {
      binding.full = full;
      binding.masked = masked;
    }
    return binding;
  }

  static Binding scalar(Pipe pipe, std::uint16_t latency, Flags flags) {
    Binding binding = slots(pipe, latency, flags);
    binding.full = binding.masked = one_by_one;
    return binding;
  }
};

// Picks the handlers by the function's type: R(A...) or R(Flags, A...).
template <class Pointer>
struct HandlersFor;

template <class Result, class... Arguments>
struct HandlersFor<Result (*)(Arguments...)> {
  template <auto Function>
  struct Call {
    CUDAOPT_INLINE static Result apply(Flags, Arguments... values) { return Function(values...); }
  };
  template <auto Function>
  using Of = Lanewise<Call<Function>, Result, Arguments...>;
};

template <class Result, class... Arguments>
struct HandlersFor<Result (*)(Flags, Arguments...)> {
  template <auto Function>
  struct Call {
    CUDAOPT_INLINE static Result apply(Flags flags, Arguments... values) {
      return Function(flags, values...);
    }
  };
  template <auto Function>
  using Of = Lanewise<Call<Function>, Result, Arguments...>;
};

template <auto Function>
using Handlers = typename HandlersFor<decltype(Function)>::template Of<Function>;

// All 32 lanes at once, blended where masked: the function must be cheap and free of traps.
template <auto Function>
Binding lanewise(Pipe pipe, std::uint16_t latency, Flags flags = {}) {
  return Handlers<Function>::vector(pipe, latency, flags);
}

// Executing lanes one after the other, lowest first.
template <auto Function>
Binding lane_by_lane(Pipe pipe, std::uint16_t latency, Flags flags = {}) {
  return Handlers<Function>::scalar(pipe, latency, flags);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
