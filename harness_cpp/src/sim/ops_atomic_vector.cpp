// atom and red of two or four neighbouring floats: each is updated by itself, lowest address first.
// PTX has them in global memory only.
#include "sim/block_watch.hpp"
#include "sim/families.hpp"
#include "sim/float_flags.hpp"
#include "sim/half.hpp"
#include "sim/memory.hpp"
#include "sim/memory_form.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// As the adders of global memory: f32 flushes subnormal numbers.
struct AddF32 {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b) {
    const float sum = flush(bits_as<float>(old)) + flush(bits_as<float>(b));
    return bits_as<std::uint32_t>(flush(canonical(sum)));
  }
};

struct Sum {
  static float apply(float old, float b) { return old + b; }
};
template <bool kMaximum>
struct Extreme {
  static float apply(float old, float b) { return extreme<kMaximum>(old, b); }
};

template <class Half, class Operation>
struct OnHalf {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b) {
    return Half::encode(Operation::apply(Half::decode(old), Half::decode(b)));
  }
};
template <class Half, class Operation>
struct OnHalves {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b) {
    using Each = OnHalf<Half, Operation>;
    return pair_of(Each::apply(low_half(old), low_half(b)),
                   Each::apply(high_half(old), high_half(b)));
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

template <class Operation, std::size_t kBytes>
std::uint32_t update(std::uint8_t* host, std::uint32_t b) {
  using Word = typename MemoryWord<kBytes>::Type;
  auto* word = reinterpret_cast<Word*>(host);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word fresh = old;
  do {
    fresh = static_cast<Word>(Operation::apply(old, b));
  } while (
      !__atomic_compare_exchange_n(word, &old, fresh, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
}

struct Targets {
  std::uint64_t addresses[kLanes] = {};
  std::uint8_t* host[kLanes] = {};
};

// Every lane is resolved before any acts: what is watched is an access that is made.
Targets resolve_all(Warp& warp, const Op& op, std::uint32_t mask) {
  Targets targets;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint64_t base =
        op.address == Slot::b64 ? Source<std::uint64_t>(warp, op, 0)[lane] : 0;
    targets.addresses[lane] = base + static_cast<std::uint64_t>(op.imm);
    targets.host[lane] = resolve(warp, op, space_of(op), targets.addresses[lane],
                                 shape_of(op.aux).bytes(), lane, AccessKind::atomic);
  }
  return targets;
}

// Op::dst: the old values, if wanted; Op::src: the address, then the operands.
template <class Operation, std::size_t kBytes, int kCount, bool kWatched>
std::int32_t atomic_vector(Warp& warp, const Op& op, std::uint32_t mask) {
  const Targets targets = resolve_all(warp, op, mask);
  if constexpr (kWatched)
    warp.block->watch->access(
        {warp, op, mask, space_of(op), targets.addresses, AccessKind::atomic, shape_of(op.aux)});
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    for (int k = 0; k < kCount; ++k) {
      const std::uint32_t b = Source<std::uint32_t>(warp, op, k + 1)[lane];
      const std::uint32_t old = update<Operation, kBytes>(targets.host[lane] + k * kBytes, b);
      if (op.dst[k] >= 0) lane_pointer<std::uint32_t>(warp, op.dst[k])[lane] = old;
    }
  }
  ++warp.counters->atomic_requests;
  warp.counters->atomic_serializations += kCount;
  return op.pc + 1;
}

struct Wanted {
  int count;
  bool watched;
};

template <class Operation, std::size_t kBytes>
Handler handler_of(const Wanted& wanted) {
  if (wanted.count == 2)
    return wanted.watched ? atomic_vector<Operation, kBytes, 2, true>
                          : atomic_vector<Operation, kBytes, 2, false>;
  return wanted.watched ? atomic_vector<Operation, kBytes, 4, true>
                        : atomic_vector<Operation, kBytes, 4, false>;
}

template <class Operation>
Handler of_halves(Type type, const Wanted& wanted) {
  switch (type) {
    case Type::f16:
      return handler_of<OnHalf<F16, Operation>, 2>(wanted);
    case Type::bf16:
      return handler_of<OnHalf<Bf16, Operation>, 2>(wanted);
    case Type::f16x2:
      return handler_of<OnHalves<F16, Operation>, 4>(wanted);
    case Type::bf16x2:
      return handler_of<OnHalves<Bf16, Operation>, 4>(wanted);
    default:
      return nullptr;
  }
}

Handler handler_for(const Form& form, const Wanted& wanted) {
  using M = Modifier;
  if (form.type() == Type::f32) {
    return form.has(M::add) ? handler_of<AddF32, 4>(wanted) : nullptr;
  }
  if (!form.has(M::noftz)) return nullptr;
  if (form.has(M::add)) return of_halves<Sum>(form.type(), wanted);
  if (form.has(M::min)) return of_halves<Extreme<false>>(form.type(), wanted);
  return form.has(M::max) ? of_halves<Extreme<true>>(form.type(), wanted) : nullptr;
}

bool is_vector_of(const ptx::Operand& operand, int count) {
  return operand.kind == ptx::Operand::Kind::vector &&
         operand.elements.size() == static_cast<std::size_t>(count);
}

bool is_wide_address(const ptx::Function& function, const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::address || operand.elements.size() != 1) return false;
  const ptx::Operand& base = operand.elements[0];
  return base.kind != ptx::Operand::Kind::reg || is_wide_register(function, base);
}

}  // namespace

std::optional<Binding> bind_atomic_vector(const ptx::Function& function, const Form& form,
                                          const ptx::Instruction& instruction, Watch watch) {
  const bool reads = form.opcode == Opcode::atom;
  const int count = form.has(Modifier::v4) ? 4 : 2;
  const std::size_t first = reads ? 1 : 0;
  const auto& operands = instruction.operands;
  if (operands.size() != first + 2 || (reads && !is_vector_of(operands[0], count)) ||
      !is_vector_of(operands[first + 1], count) || form.has(Modifier::shared) ||
      !is_wide_address(function, operands[first]))
    return std::nullopt;
  Binding binding;
  binding.full = binding.masked = handler_for(form, {count, watch != Watch::nothing});
  if (binding.full == nullptr) return std::nullopt;
  binding.src[0] = Slot::b64;
  for (int k = 0; k < count; ++k) {
    if (reads) binding.dst[static_cast<std::size_t>(k)] = Slot::b32;
    binding.src[static_cast<std::size_t>(k) + 1] = Slot::b32;
  }
  const bool global = form.has(Modifier::global);
  const bool pairs_or_f32 = form.type() != Type::f16 && form.type() != Type::bf16;
  AccessShape shape;
  shape.order = memory_order(instruction);
  shape.element_bytes = pairs_or_f32 ? 4 : 2;
  shape.elements = static_cast<std::uint32_t>(count);
  const auto space = global ? ptx::Space::global : ptx::Space::none;
  binding.aux = static_cast<std::int32_t>(space) << 8 | shape_bits(shape);
  binding.pipe = Pipe::memory;
  binding.latency = 200;
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
