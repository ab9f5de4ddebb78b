// What an access promises beyond moving bytes: how it may meet others, and what it publishes.
#pragma once

#include <cstdint>

#include "ptx/module.hpp"

namespace cudaopt::sim {

// Accesses that may meet unordered without a race: both at least volatile.
enum class Strength : std::uint8_t { plain, is_volatile, strong };

// Who a fence or a release reaches: the threads of its block, or everyone.
enum class Scope : std::uint8_t { block, device };

struct MemoryOrder {
  Strength strength = Strength::plain;
  Scope scope = Scope::device;
  bool releases = false;  // by itself, without a fence before it
};

// Of a load, a store, an atomic or a fence. Atomics are always strong.
[[nodiscard]] MemoryOrder memory_order(const ptx::Instruction& instruction);

// Bits 16 and up of Op::aux of memory instructions and atomics: the order and the bytes of a lane.
struct AccessShape {
  MemoryOrder order;
  std::uint32_t element_bytes = 4, elements = 1;
  bool reads = true;  // atomics: false if the old value is neither used nor asked for

  [[nodiscard]] std::uint32_t bytes() const { return element_bytes * elements; }
};

[[nodiscard]] std::int32_t shape_bits(const AccessShape& shape);

[[nodiscard]] static inline AccessShape shape_of(std::int32_t aux) {
  AccessShape shape;
  shape.order.strength = static_cast<Strength>(aux >> 16 & 3);
  shape.order.scope = static_cast<Scope>(aux >> 18 & 1);
  shape.order.releases = (aux >> 19 & 1) != 0;
  shape.element_bytes = 1u << (aux >> 20 & 3);
  shape.elements = 1u << (aux >> 22 & 3);
  shape.reads = (aux >> 24 & 1) != 0;
  return shape;
}

}  // namespace cudaopt::sim
