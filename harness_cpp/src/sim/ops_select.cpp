// Choosing between two values by a predicate or a sign, and logic on predicates.
#include "sim/alu.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

bool is_wide(Type type) {
  return type == Type::b64 || type == Type::u64 || type == Type::s64 || type == Type::f64;
}

template <class T>
CUDAOPT_INLINE T select(T a, T b, bool first) {
  return first ? a : b;
}
template <class T>
CUDAOPT_INLINE T select_by_sign(T a, T b, std::int32_t c) {
  return c >= 0 ? a : b;
}
template <class T>
CUDAOPT_INLINE T select_by_float(T a, T b, float c) {
  return c >= 0.0f ? a : b;
}

constexpr std::uint16_t kSimple = 4;

std::optional<Binding> bind_selp(const Form& form) {
  switch (form.type()) {
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
      return lanewise<select<std::uint16_t>>(Pipe::integer, kSimple);
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
      return lanewise<select<std::uint32_t>>(Pipe::integer, kSimple);
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return lanewise<select<std::uint64_t>>(Pipe::integer, kSimple);
    default:
      return std::nullopt;
  }
}

template <class T>
std::optional<Binding> bind_slct_of(Type condition) {
  if (condition == Type::s32) return lanewise<select_by_sign<T>>(Pipe::integer, kSimple);
  if (condition == Type::f32) return lanewise<select_by_float<T>>(Pipe::integer, kSimple);
  return std::nullopt;
}

std::optional<Binding> bind_slct(const Form& form) {
  if (form.type_count != 2) return std::nullopt;
  switch (form.types[0]) {
    case Type::b16:
    case Type::u16:
    case Type::s16:
      return bind_slct_of<std::uint16_t>(form.types[1]);
    default:
      return is_wide(form.types[0]) ? bind_slct_of<std::uint64_t>(form.types[1])
                                    : bind_slct_of<std::uint32_t>(form.types[1]);
  }
}

template <Opcode kOpcode>
std::int32_t predicate_logic(Warp& warp, const Op& op, std::uint32_t mask) {
  std::uint32_t bits = Source<bool>(warp, op, 0).bits;
  if constexpr (kOpcode == Opcode::not_) bits = ~bits;
  if constexpr (kOpcode == Opcode::and_) bits &= Source<bool>(warp, op, 1).bits;
  if constexpr (kOpcode == Opcode::or_) bits |= Source<bool>(warp, op, 1).bits;
  if constexpr (kOpcode == Opcode::xor_) bits ^= Source<bool>(warp, op, 1).bits;
  write_predicate(warp, op.dst[0], bits, mask);
  return op.pc + 1;
}

Binding on_predicates(Handler handler, std::size_t sources) {
  Binding binding;
  binding.full = binding.masked = handler;
  binding.dst[0] = Slot::predicate;
  for (std::size_t k = 0; k < sources; ++k) binding.src[k] = Slot::predicate;
  return binding;
}

std::optional<Binding> bind_predicate_logic(Opcode opcode) {
  switch (opcode) {
    case Opcode::and_:
      return on_predicates(predicate_logic<Opcode::and_>, 2);
    case Opcode::or_:
      return on_predicates(predicate_logic<Opcode::or_>, 2);
    case Opcode::xor_:
      return on_predicates(predicate_logic<Opcode::xor_>, 2);
    case Opcode::not_:
      return on_predicates(predicate_logic<Opcode::not_>, 1);
    case Opcode::mov:
      return on_predicates(predicate_logic<Opcode::mov>, 1);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Binding> bind_selection(const Form& form) {
  if (form.opcode == Opcode::slct)
    return form.only({Modifier::ftz}) ? bind_slct(form) : std::nullopt;
  if (!form.only({}) || form.type_count != 1) return std::nullopt;
  if (form.type() == Type::pred) return bind_predicate_logic(form.opcode);
  return form.opcode == Opcode::selp ? bind_selp(form) : std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
