// Integer arithmetic: sums, products, extremes. Quotients, carries, counts have files of their own.
#include "sim/alu.hpp"
#include "sim/families.hpp"
#include "sim/form.hpp"
#include "sim/integer_operations.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using namespace integer_operations;

// .sat is for sums of s32, .relu for extremes.
bool modifier_fits(const Form& form) {
  const Opcode opcode = form.opcode;
  const bool extreme = opcode == Opcode::min || opcode == Opcode::max;
  const bool sum = opcode == Opcode::add || opcode == Opcode::sub || opcode == Opcode::mad ||
                   opcode == Opcode::mad24;
  return (extreme || !form.has(Modifier::relu)) && (sum || !form.has(Modifier::sat));
}

// Where the sign makes no difference, one function serves both.
template <class Operation>
std::optional<Binding> by_width(Type type, std::uint16_t latency) {
  switch (type) {
    case Type::u16:
    case Type::s16:
      return lanewise<Operation::template apply<std::uint16_t>>(Pipe::integer, latency);
    case Type::u32:
    case Type::s32:
      return lanewise<Operation::template apply<std::uint32_t>>(Pipe::integer, latency);
    case Type::u64:
    case Type::s64:
      return lanewise<Operation::template apply<std::uint64_t>>(Pipe::integer, latency);
    default:
      return std::nullopt;
  }
}

template <class Operation>
std::optional<Binding> by_narrow_type(Type type, std::uint16_t latency) {
  switch (type) {
    case Type::u16:
      return lanewise<Operation::template apply<std::uint16_t>>(Pipe::integer, latency);
    case Type::s16:
      return lanewise<Operation::template apply<std::int16_t>>(Pipe::integer, latency);
    case Type::u32:
      return lanewise<Operation::template apply<std::uint32_t>>(Pipe::integer, latency);
    case Type::s32:
      return lanewise<Operation::template apply<std::int32_t>>(Pipe::integer, latency);
    default:
      return std::nullopt;
  }
}

template <class Operation>
std::optional<Binding> by_type(Type type, std::uint16_t latency) {
  switch (type) {
    case Type::u64:
      return lanewise<Operation::template apply<std::uint64_t>>(Pipe::integer, latency);
    case Type::s64:
      return lanewise<Operation::template apply<std::int64_t>>(Pipe::integer, latency);
    default:
      return by_narrow_type<Operation>(type, latency);
  }
}

template <class Operation>
std::optional<Binding> by_signed_type(Type type) {
  switch (type) {
    case Type::s16:
      return lanewise<Operation::template apply<std::int16_t>>(Pipe::integer, kSimple);
    case Type::s32:
      return lanewise<Operation::template apply<std::int32_t>>(Pipe::integer, kSimple);
    case Type::s64:
      return lanewise<Operation::template apply<std::int64_t>>(Pipe::integer, kSimple);
    default:
      return std::nullopt;
  }
}

template <class Operation>
std::optional<Binding> of_32_bits(Type type) {
  switch (type) {
    case Type::u32:
      return lanewise<Operation::template apply<std::uint32_t>>(Pipe::integer, kProduct);
    case Type::s32:
      return lanewise<Operation::template apply<std::int32_t>>(Pipe::integer, kProduct);
    default:
      return std::nullopt;
  }
}

std::uint16_t product_latency(Type type) {
  return type == Type::u64 || type == Type::s64 ? kWideProduct : kProduct;
}

template <class Operation>
std::optional<Binding> bind_sum(const Form& form, Binding saturating) {
  if (form.has(Modifier::sat)) {
    if (form.type() != Type::s32) return std::nullopt;
    return saturating;
  }
  if (form.type() == Type::u16x2 || form.type() == Type::s16x2)
    return lanewise<both_halves<Operation, std::uint16_t>>(Pipe::integer, kSimple);
  return by_width<Operation>(form.type(), kSimple);
}

std::optional<Binding> bind_mul(const Form& form) {
  const Type type = form.type();
  if (form.has(Modifier::wide)) return by_narrow_type<MultiplyWide>(type, kProduct);
  if (form.has(Modifier::hi)) return by_type<MultiplyHigh>(type, product_latency(type));
  if (form.has(Modifier::lo)) return by_width<MultiplyLow>(type, product_latency(type));
  return std::nullopt;
}

std::optional<Binding> bind_mad(const Form& form) {
  const Type type = form.type();
  if (form.has(Modifier::sat)) {
    if (!form.has(Modifier::hi) || type != Type::s32) return std::nullopt;
    return lanewise<multiply_add_high_saturating>(Pipe::integer, kProduct);
  }
  if (form.has(Modifier::wide)) return by_narrow_type<MultiplyAddWide>(type, kProduct);
  if (form.has(Modifier::hi)) return by_type<MultiplyAddHigh>(type, product_latency(type));
  if (form.has(Modifier::lo)) return by_width<MultiplyAddLow>(type, product_latency(type));
  return std::nullopt;
}

std::optional<Binding> bind_24_bits(const Form& form) {
  const bool high = form.has(Modifier::hi);
  if (high == form.has(Modifier::lo)) return std::nullopt;
  if (form.has(Modifier::sat)) {
    if (!high || form.type() != Type::s32) return std::nullopt;
    return lanewise<multiply_add_24_high_saturating>(Pipe::integer, kProduct);
  }
  if (form.opcode == Opcode::mul24)
    return high ? of_32_bits<Multiply24High>(form.type()) : of_32_bits<Multiply24Low>(form.type());
  return high ? of_32_bits<MultiplyAdd24High>(form.type())
              : of_32_bits<MultiplyAdd24Low>(form.type());
}

template <class Operation>
std::optional<Binding> bind_extreme(const Form& form) {
  const Type type = form.type();
  if (form.has(Modifier::relu)) {
    if (type == Type::s16x2)
      return lanewise<both_halves<Rectified<Operation>, std::int16_t>>(Pipe::integer, kSimple);
    if (type != Type::s32) return std::nullopt;
    return lanewise<Rectified<Operation>::template apply<std::int32_t>>(Pipe::integer, kSimple);
  }
  if (type == Type::u16x2)
    return lanewise<both_halves<Operation, std::uint16_t>>(Pipe::integer, kSimple);
  if (type == Type::s16x2)
    return lanewise<both_halves<Operation, std::int16_t>>(Pipe::integer, kSimple);
  return by_type<Operation>(type, kSimple);
}

std::optional<Binding> bind_form(const Form& form) {
  switch (form.opcode) {
    case Opcode::add:
      return bind_sum<Add>(form, lanewise<add_saturating>(Pipe::integer, kSimple));
    case Opcode::sub:
      return bind_sum<Subtract>(form, lanewise<subtract_saturating>(Pipe::integer, kSimple));
    case Opcode::mul:
      return bind_mul(form);
    case Opcode::mad:
      return bind_mad(form);
    case Opcode::mul24:
    case Opcode::mad24:
      return bind_24_bits(form);
    case Opcode::div:
    case Opcode::rem:
      return bind_division(form);
    case Opcode::min:
      return bind_extreme<Minimum>(form);
    case Opcode::max:
      return bind_extreme<Maximum>(form);
    case Opcode::neg:
      return by_signed_type<Negate>(form.type());
    case Opcode::abs:
      return by_signed_type<Absolute>(form.type());
    case Opcode::sad:
      return by_type<SumOfDifference>(form.type(), kSimple);
    case Opcode::popc:
    case Opcode::clz:
    case Opcode::brev:
    case Opcode::bfind:
    case Opcode::dp4a:
    case Opcode::dp2a:
      return bind_counts(form);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Binding> bind_integer(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form || form->rounding != Rounding::none) return std::nullopt;
  if (form->has(Modifier::cc) || form->opcode == Opcode::addc || form->opcode == Opcode::subc ||
      form->opcode == Opcode::madc)
    return bind_carry(*form);
  if (auto binding = bind_video(*form)) return binding;
  using M = Modifier;
  if (!form->only({M::sat, M::lo, M::hi, M::wide, M::shiftamt, M::relu})) return std::nullopt;
  if (!modifier_fits(*form)) return std::nullopt;
  return bind_form(*form);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
