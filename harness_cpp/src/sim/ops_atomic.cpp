// atom and red. Lanes act in order, lowest first; the host operation is atomic, because
// blocks run on several threads.
#include "sim/atomic_operations.hpp"
#include "sim/block_order.hpp"
#include "sim/block_watch.hpp"
#include "sim/families.hpp"
#include "sim/memory.hpp"
#include "sim/memory_form.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using namespace atomic_operations;

// The hardware serves lanes that share an address one after the other.
void count(Warp& warp, const std::uint64_t* addresses, std::uint32_t mask) {
  std::uint32_t most = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(rest)];
    std::uint32_t sharing = 0;
    for (std::uint32_t others = mask; others != 0; others &= others - 1)
      sharing += addresses[__builtin_ctz(others)] == address;
    most = sharing > most ? sharing : most;
  }
  ++warp.counters->atomic_requests;
  warp.counters->atomic_serializations += most;
}

template <class Operation, class T>
std::int32_t atomic(Warp& warp, const Op& op, std::uint32_t mask) {
  constexpr bool kThreeOperands = std::is_same_v<Operation, CompareAndSwap>;
  const ptx::Space space = space_of(op);
  const Source<T> b(warp, op, 1), c(warp, op, kThreeOperands ? 2 : 1);
  std::uint64_t addresses[kLanes] = {};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    addresses[lane] = effective_address(warp, op, lane);
    std::uint8_t* host =
        resolve(warp, op, space, addresses[lane], sizeof(T), lane, AccessKind::atomic);
    const T old = update_at<Operation, T>(space, addresses[lane], host, b[lane], c[lane]);
    if (op.dst[0] >= 0) lane_pointer<T>(warp, op.dst[0])[lane] = to_lane<T>(old);
  }
  count(warp, addresses, mask);
  return op.pc + 1;
}

// Every lane is resolved before any acts: what is watched is an access that is made.
template <class Operation, class T>
std::int32_t watched_atomic(Warp& warp, const Op& op, std::uint32_t mask) {
  std::uint64_t addresses[kLanes] = {};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    addresses[lane] = effective_address(warp, op, lane);
    static_cast<void>(
        resolve(warp, op, space_of(op), addresses[lane], sizeof(T), lane, AccessKind::atomic));
  }
  warp.block->watch->access(
      {warp, op, mask, space_of(op), addresses, AccessKind::atomic, shape_of(op.aux)});
  return atomic<Operation, T>(warp, op, mask);
}

template <class Operation, class T>
Binding binding_of(Watch watch) {
  Binding binding;
  binding.full = binding.masked =
      watch == Watch::nothing ? atomic<Operation, T> : watched_atomic<Operation, T>;
  binding.dst[0] = slot_of<T>();
  binding.src[1] = slot_of<T>();
  if constexpr (std::is_same_v<Operation, CompareAndSwap>) binding.src[2] = slot_of<T>();
  return binding;
}

template <class Operation>
std::optional<Binding> of_bits(Type type, Watch watch) {
  if (type == Type::b32) return binding_of<Operation, std::uint32_t>(watch);
  if (type == Type::b64) return binding_of<Operation, std::uint64_t>(watch);
  return std::nullopt;
}

template <class Operation>
std::optional<Binding> of_integers(Type type, Watch watch) {
  switch (type) {
    case Type::u32:
      return binding_of<Operation, std::uint32_t>(watch);
    case Type::s32:
      return binding_of<Operation, std::int32_t>(watch);
    case Type::u64:
      return binding_of<Operation, std::uint64_t>(watch);
    case Type::s64:
      return binding_of<Operation, std::int64_t>(watch);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_add(Type type, Watch watch) {
  switch (type) {
    case Type::u32:
    case Type::s32:
      return binding_of<Add, std::uint32_t>(watch);
    case Type::u64:
    case Type::s64:
      return binding_of<Add, std::uint64_t>(watch);
    case Type::f32:
      return binding_of<AddFloat, float>(watch);
    case Type::f64:
      return binding_of<AddFloat, double>(watch);
    case Type::f16:
      return binding_of<AddHalf<F16>, std::uint16_t>(watch);
    case Type::bf16:
      return binding_of<AddHalf<Bf16>, std::uint16_t>(watch);
    case Type::f16x2:
      return binding_of<AddHalves<F16>, std::uint32_t>(watch);
    case Type::bf16x2:
      return binding_of<AddHalves<Bf16>, std::uint32_t>(watch);
    default:
      return std::nullopt;
  }
}

std::optional<Binding> bind_operation(const Form& form, Watch watch) {
  const Type type = form.type();
  if (form.has(Modifier::add)) return bind_add(type, watch);
  if (form.has(Modifier::min)) return of_integers<Minimum>(type, watch);
  if (form.has(Modifier::max)) return of_integers<Maximum>(type, watch);
  if (form.has(Modifier::and_)) return of_bits<And>(type, watch);
  if (form.has(Modifier::or_)) return of_bits<Or>(type, watch);
  if (form.has(Modifier::xor_)) return of_bits<Xor>(type, watch);
  if (form.has(Modifier::inc) && type == Type::u32)
    return binding_of<Increment, std::uint32_t>(watch);
  if (form.has(Modifier::dec) && type == Type::u32)
    return binding_of<Decrement, std::uint32_t>(watch);
  if (form.opcode == Opcode::red) return std::nullopt;
  if (form.has(Modifier::exch)) return of_bits<Exchange>(type, watch);
  if (!form.has(Modifier::cas)) return std::nullopt;
  if (type == Type::b16) return binding_of<CompareAndSwap, std::uint16_t>(watch);
  return of_bits<CompareAndSwap>(type, watch);
}

ptx::Space declared_space(const Form& form) {
  if (form.has(Modifier::global)) return ptx::Space::global;
  return form.has(Modifier::shared) ? ptx::Space::shared : ptx::Space::none;
}

std::uint32_t element_bytes(Type type) {
  switch (type) {
    case Type::b16:
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 8;
    default:
      return 4;
  }
}

std::optional<Binding> bind_atomic_form(const ptx::Function& function, const Form& form,
                                        const ptx::Instruction& instruction, Watch watch) {
  auto binding = bind_operation(form, watch);
  if (!binding) return std::nullopt;
  const std::size_t address_operand = form.opcode == Opcode::red ? 0 : 1;
  const bool cas = form.has(Modifier::cas);
  if (instruction.operands.size() != address_operand + (cas ? 3 : 2)) return std::nullopt;
  const ptx::Operand& address = instruction.operands[address_operand];
  if (address.kind != ptx::Operand::Kind::address || address.elements.empty()) return std::nullopt;
  const ptx::Operand& base = address.elements[0];
  const bool narrow = base.kind == ptx::Operand::Kind::reg && !is_wide_register(function, base);
  binding->src[0] = narrow ? Slot::b32 : Slot::b64;
  if (form.opcode == Opcode::red) binding->dst[0] = Slot::none;
  const bool swaps = form.has(Modifier::exch);
  const bool unused = swaps && !result_is_used(instruction, registers_read(function));
  AccessShape shape;
  shape.order = memory_order(instruction);
  shape.element_bytes = element_bytes(form.type());
  shape.reads = !(swaps && unused);
  binding->aux = static_cast<std::int32_t>(declared_space(form)) << 8 | shape_bits(shape);
  binding->pipe = Pipe::memory;
  binding->latency = 200;
  return binding;
}

}  // namespace

std::optional<Binding> bind_atomic(const ptx::Function& function,
                                   const ptx::Instruction& instruction, Watch watch) {
  const auto form = read_form(instruction);
  if (!form || form->rounding != Rounding::none) return std::nullopt;
  if (form->opcode == Opcode::fence || form->opcode == Opcode::membar)
    return form->type_count == 0 ? bind_fence(*form, instruction, watch) : std::nullopt;
  const bool atomic = form->opcode == Opcode::atom || form->opcode == Opcode::red;
  if (!atomic || form->type_count != 1) return std::nullopt;
  if (form->has(Modifier::v2) || form->has(Modifier::v4))
    return bind_atomic_vector(function, *form, instruction, watch);
  return bind_atomic_form(function, *form, instruction, watch);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
