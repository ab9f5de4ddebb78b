// mov with packing and unpacking, cvta, isspacep.
#include <cstdint>
#include <cstring>

#include "sim/memory.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using ptx::Operand;
using ptx::RegisterClass;
using ptx::Space;

template <class T>
std::int32_t move_full(Warp& warp, const Op& op, std::uint32_t) {
  std::memmove(lanes<T>(warp, op.dst[0]), lanes<T>(warp, op.src[0]), kLanes * sizeof(T));
  return op.pc + 1;
}

template <class T>
std::int32_t move_masked(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  const T* from = lanes<T>(warp, op.src[0]);
  T* to = lanes<T>(warp, op.dst[0]);
  for (int i = 0; i < kLanes; ++i) to[i] = in_mask[i] != 0 ? from[i] : to[i];
  return op.pc + 1;
}

// Op::aux of cvta: the window's number; windows start at its multiples of 2^32.
template <bool Leave>
std::int32_t move_window(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  const std::uint64_t window = static_cast<std::uint64_t>(op.aux) << 32;
  const auto* from = lanes<std::uint64_t>(warp, op.src[0]);
  auto* to = lanes<std::uint64_t>(warp, op.dst[0]);
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t moved = Leave ? from[i] - window : from[i] + window;
    to[i] = in_mask[i] != 0 ? moved : to[i];
  }
  return op.pc + 1;
}

// {a, b, ...} to one register, a lowest. `Bits` is the width of one part.
template <class Part, class Whole, int N, int Bits>
std::int32_t pack(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  Whole* to = lanes<Whole>(warp, op.dst[0]);
  for (int i = 0; i < kLanes; ++i) {
    Whole whole = 0;
    for (int k = 0; k < N; ++k) {
      whole |= static_cast<Whole>(lanes<Part>(warp, op.src[k])[i]) << (k * Bits);
    }
    to[i] = in_mask[i] != 0 ? whole : to[i];
  }
  return op.pc + 1;
}

template <class Part, class Whole, int N, int Bits>
std::int32_t unpack(Warp& warp, const Op& op, std::uint32_t mask) {
  constexpr Whole kPart = static_cast<Whole>((Whole{1} << Bits) - 1);
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  alignas(64) Whole whole[kLanes];  // a part may take the place of the source
  std::memcpy(whole, lanes<Whole>(warp, op.src[0]), sizeof whole);
  for (int k = 0; k < N; ++k) {
    Part* to = lanes<Part>(warp, op.dst[k]);
    for (int i = 0; i < kLanes; ++i) {
      to[i] = in_mask[i] != 0 ? static_cast<Part>(whole[i] >> (k * Bits) & kPart) : to[i];
    }
  }
  return op.pc + 1;
}

// Op::aux: the space asked for.
std::int32_t is_space(Warp& warp, const Op& op, std::uint32_t mask) {
  const auto* addresses = lanes<std::uint64_t>(warp, op.src[0]);
  std::uint32_t holds = 0;
  for (int i = 0; i < kLanes; ++i) {
    holds |=
        static_cast<std::uint32_t>(space_of_generic(addresses[i]) == static_cast<Space>(op.aux))
        << i;
  }
  std::uint32_t& to = warp.predicates[op.dst[0]];
  to = (to & ~mask) | (holds & mask);
  return op.pc + 1;
}

Binding move_binding(Slot slot) {
  Binding binding;
  binding.dst[0] = binding.src[0] = slot;
  if (slot == Slot::b64) {
    binding.full = move_full<std::uint64_t>;
    binding.masked = move_masked<std::uint64_t>;
  } else {
    binding.full = move_full<std::uint32_t>;
    binding.masked = move_masked<std::uint32_t>;
  }
  return binding;
}

// Width of a type in bits, 0 for what mov does not move.
int bits_of(std::string_view type) {
  if (type == "b16" || type == "u16" || type == "s16" || type == "f16" || type == "bf16") return 16;
  if (type == "b32" || type == "u32" || type == "s32" || type == "f32" || type == "f16x2")
    return 32;
  if (type == "b64" || type == "u64" || type == "s64" || type == "f64") return 64;
  return 0;
}

std::optional<Binding> bind_pack(int bits, std::size_t parts) {
  Binding binding;
  if (bits == 32 && parts == 2) {
    binding.full = pack<std::uint32_t, std::uint32_t, 2, 16>;
  } else if (bits == 32 && parts == 4) {
    binding.full = pack<std::uint32_t, std::uint32_t, 4, 8>;
  } else if (bits == 64 && parts == 2) {
    binding.full = pack<std::uint32_t, std::uint64_t, 2, 32>;
  } else if (bits == 64 && parts == 4) {
    binding.full = pack<std::uint32_t, std::uint64_t, 4, 16>;
  } else if (bits == 16 && parts == 2) {
    binding.full = pack<std::uint32_t, std::uint32_t, 2, 8>;
  } else {
    return std::nullopt;
  }
  binding.masked = binding.full;
  binding.dst[0] = bits == 64 ? Slot::b64 : Slot::b32;
  for (std::size_t k = 0; k < parts; ++k) binding.src[k] = Slot::b32;
  return binding;
}

std::optional<Binding> bind_unpack(int bits, std::size_t parts) {
  Binding binding;
  if (bits == 32 && parts == 2) {
    binding.full = unpack<std::uint32_t, std::uint32_t, 2, 16>;
  } else if (bits == 32 && parts == 4) {
    binding.full = unpack<std::uint32_t, std::uint32_t, 4, 8>;
  } else if (bits == 64 && parts == 2) {
    binding.full = unpack<std::uint32_t, std::uint64_t, 2, 32>;
  } else if (bits == 64 && parts == 4) {
    binding.full = unpack<std::uint32_t, std::uint64_t, 4, 16>;
  } else if (bits == 16 && parts == 2) {
    binding.full = unpack<std::uint32_t, std::uint32_t, 2, 8>;
  } else {
    return std::nullopt;
  }
  binding.masked = binding.full;
  binding.src[0] = bits == 64 ? Slot::b64 : Slot::b32;
  for (std::size_t k = 0; k < parts; ++k) binding.dst[k] = Slot::b32;
  return binding;
}

std::optional<Binding> bind_mov(const ptx::Instruction& instruction) {
  const int bits = bits_of(instruction.type());
  if (bits == 0 || instruction.operands.size() != 2) return std::nullopt;
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  if (from.kind == Operand::Kind::vector) return bind_pack(bits, from.elements.size());
  if (to.kind == Operand::Kind::vector) return bind_unpack(bits, to.elements.size());
  return move_binding(bits == 64 ? Slot::b64 : Slot::b32);
}

std::optional<Space> named_space(std::string_view modifier) {
  if (modifier == "global") return Space::global;
  if (modifier == "shared" || modifier == "shared::cta" || modifier == "shared::cluster")
    return Space::shared;
  if (modifier == "local") return Space::local;
  if (modifier == "const") return Space::constant;
  if (modifier == "param" || modifier == "param::entry") return Space::param;
  return std::nullopt;
}

std::int32_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return static_cast<std::int32_t>(kSharedWindow >> 32);
    case Space::local:
      return static_cast<std::int32_t>(kLocalWindow >> 32);
    case Space::constant:
      return static_cast<std::int32_t>(kConstantWindow >> 32);
    case Space::param:
      return static_cast<std::int32_t>(kParamWindow >> 32);
    default:
      return 0;
  }
}

bool is_wide(const ptx::Function& function, const Operand& operand) {
  return operand.kind != Operand::Kind::reg ||
         function.registers[static_cast<std::size_t>(operand.reg)].type == RegisterClass::b64;
}

std::optional<Binding> bind_cvta(const ptx::Function& function,
                                 const ptx::Instruction& instruction) {
  if (instruction.type() != "u64" || instruction.operands.size() != 2) return std::nullopt;
  const bool leave = instruction.has("to");
  const auto space = named_space(instruction.modifiers[leave ? 1 : 0]);
  if (!space) return std::nullopt;
  if (*space == Space::global) return move_binding(Slot::b64);
  if (!is_wide(function, instruction.operands[0]) || !is_wide(function, instruction.operands[1])) {
    return std::nullopt;
  }
  Binding binding;
  binding.dst[0] = binding.src[0] = Slot::b64;
  binding.full = binding.masked = leave ? move_window<true> : move_window<false>;
  binding.aux = window_of(*space);
  return binding;
}

std::optional<Binding> bind_isspacep(const ptx::Function& function,
                                     const ptx::Instruction& instruction) {
  if (instruction.modifiers.size() != 1 || instruction.operands.size() != 2) return std::nullopt;
  const auto space = named_space(instruction.modifiers[0]);
  if (!space || !is_wide(function, instruction.operands[1])) return std::nullopt;
  Binding binding;
  binding.dst[0] = Slot::predicate;
  binding.src[0] = Slot::b64;
  binding.full = binding.masked = is_space;
  binding.aux = static_cast<std::int32_t>(*space);
  return binding;
}

}  // namespace

std::optional<Binding> bind_move(const ptx::Function& function,
                                 const ptx::Instruction& instruction) {
  if (instruction.opcode == "mov") return bind_mov(instruction);
  if (instruction.opcode == "cvta") return bind_cvta(function, instruction);
  if (instruction.opcode == "isspacep") return bind_isspacep(function, instruction);
  return std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
