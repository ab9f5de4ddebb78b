// ld.param and st.param of calls: a .param variable is a row of 32-bit words among the registers.
#include <cstdint>
#include <string_view>

#include "sim/lane_copy.hpp"
#include "sim/memory_form.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// Bits below element `k` in its word. Op::imm is the place of the first in the variable.
template <class T>
[[nodiscard]] inline std::uint32_t shift_of(const Op& op, int k) {
  return static_cast<std::uint32_t>((op.imm + k * static_cast<int>(sizeof(T))) & 3) * 8;
}

// src[k] is the word where element k begins.
template <class T, int N>
std::int32_t load_words(Warp& warp, const Op& op, std::uint32_t mask) {
  alignas(64) LaneOf<T> value[N][kLanes];
  for (int k = 0; k < N; ++k) {
    const std::uint32_t* words = lanes<std::uint32_t>(warp, op.src[k]);
    if constexpr (sizeof(T) == 8) {
      for (int i = 0; i < kLanes; ++i)
        value[k][i] = words[i] | static_cast<std::uint64_t>(words[kLanes + i]) << 32;
    } else {
      const std::uint32_t shift = shift_of<T>(op, k);
      for (int i = 0; i < kLanes; ++i) value[k][i] = static_cast<T>(words[i] >> shift);
    }
  }
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  for (int k = 0; k < N; ++k) {
    if constexpr (sizeof(T) < 8) {
      if (extension_of(op) != Extension::none) {
        extend_lanes(extension_of(op), value[k], warp, op.dst[k], mask);
        continue;
      }
    }
    auto* to = lanes<LaneOf<T>>(warp, op.dst[k]);
    for (int i = 0; i < kLanes; ++i) to[i] = in_mask[i] != 0 ? value[k][i] : to[i];
  }
  return op.pc + 1;
}

template <class T, class From>
inline void store_element(Warp& warp, const Op& op, int k, const std::uint32_t* in_mask) {
  const From* from = lanes<From>(warp, op.src[k]);
  std::uint32_t* words = lanes<std::uint32_t>(warp, op.dst[k]);
  if constexpr (sizeof(T) == 8) {
    for (int i = 0; i < kLanes; ++i) {
      words[i] = in_mask[i] != 0 ? static_cast<std::uint32_t>(from[i]) : words[i];
      words[kLanes + i] =
          in_mask[i] != 0 ? static_cast<std::uint32_t>(from[i] >> 32) : words[kLanes + i];
    }
  } else {
    const std::uint32_t shift = shift_of<T>(op, k);
    const std::uint32_t element = std::uint32_t{static_cast<T>(~T{0})} << shift;
    for (int i = 0; i < kLanes; ++i) {
      const std::uint32_t value = static_cast<std::uint32_t>(from[i]) << shift & element;
      words[i] = in_mask[i] != 0 ? (words[i] & ~element) | value : words[i];
    }
  }
}

// dst[k] is the word where element k begins.
template <class T, int N>
std::int32_t store_words(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  const bool wide = sizeof(T) == 8 || extension_of(op) >= Extension::to_64;
  for (int k = 0; k < N; ++k) {
    if (wide) {
      store_element<T, std::uint64_t>(warp, op, k, in_mask);
    } else if constexpr (sizeof(T) < 8) {
      store_element<T, std::uint32_t>(warp, op, k, in_mask);
    }
  }
  return op.pc + 1;
}

template <class T>
Handler handler_of(bool store, std::uint32_t elements) {
  if (elements == 1) return store ? store_words<T, 1> : load_words<T, 1>;
  if (elements == 2) return store ? store_words<T, 2> : load_words<T, 2>;
  return store ? store_words<T, 4> : load_words<T, 4>;
}

Handler handler_of(bool store, const MemoryForm& form) {
  switch (form.element_bytes) {
    case 1:
      return handler_of<std::uint8_t>(store, form.elements);
    case 2:
      return handler_of<std::uint16_t>(store, form.elements);
    case 4:
      return handler_of<std::uint32_t>(store, form.elements);
    default:
      return handler_of<std::uint64_t>(store, form.elements);
  }
}

}  // namespace

std::optional<Binding> bind_parameter_words(const ptx::Function& function,
                                            const ptx::Instruction& instruction) {
  const bool store = instruction.opcode == "st";
  if (!store && instruction.opcode != "ld") return std::nullopt;
  const auto form = memory_form(function, instruction);
  if (!form || !form->parameter_words) return std::nullopt;
  Binding binding;
  binding.aux = memory_aux(*form);
  const bool wide = form->element_bytes == 8 || form->extension >= Extension::to_64;
  for (std::uint32_t k = 0; k < form->elements; ++k) {
    (store ? binding.src[k] : binding.dst[k]) = wide ? Slot::b64 : Slot::b32;
  }
  binding.full = binding.masked = handler_of(store, *form);
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
