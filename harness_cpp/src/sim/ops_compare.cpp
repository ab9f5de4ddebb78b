// Comparisons into predicates and registers. Selections and logic on predicates: ops_select.cpp.
#include "sim/compare.hpp"
#include "sim/families.hpp"
#include "sim/form.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

void write_if_wanted(Warp& warp, std::int32_t index, std::uint32_t bits, std::uint32_t mask) {
  if (index >= 0) write_predicate(warp, index, bits, mask);
}

// Both results are computed before either is written: the combined predicate may be one of them.
[[gnu::noinline]] void write_results(Warp& warp, const Op& op, std::uint32_t mask,
                                     std::uint32_t first, std::uint32_t second) {
  const std::uint32_t p = combined(warp, op, first), q = combined(warp, op, second);
  write_if_wanted(warp, op.dst[0], p, mask);
  if ((op.aux & kTwoResults) != 0) write_if_wanted(warp, op.dst[1], q, mask);
}

CUDAOPT_INLINE std::int32_t finish(Warp& warp, const Op& op, std::uint32_t mask,
                                   std::uint32_t bits) {
  if ((op.aux & (kCombine | kTwoResults)) == 0) {
    write_if_wanted(warp, op.dst[0], bits, mask);
  } else {
    write_results(warp, op, mask, bits, ~bits);
  }
  return op.pc + 1;
}

template <std::int32_t kAccepted, class T>
std::int32_t setp(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<T> a(warp, op, 0), b(warp, op, 1);
  std::uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= holds<kAccepted, T>(a[i], b[i]) ? kLaneBits[i] : 0u;
  return finish(warp, op, mask, bits);
}

template <class Reader>
std::int32_t setp_rare(Warp& warp, const Op& op, std::uint32_t mask) {
  return finish(warp, op, mask, comparison_bits<Reader>(warp, op, op.aux & kOutcomes));
}

// Two halves compared give two predicates; there is no complement.
template <class Half>
std::int32_t setp_pair(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::int32_t accepted = op.aux & kOutcomes;
  write_results(warp, op, mask, comparison_bits<Low<Half>>(warp, op, accepted),
                comparison_bits<High<Half>>(warp, op, accepted));
  return op.pc + 1;
}

// What `set` writes for true.
constexpr std::uint32_t kTrueValues[] = {0xffffffffu, 0x3f800000u, 0xffffu, F16::kOne, Bf16::kOne};
enum TrueValue : std::int32_t { kAllOnes, kOneF32, kHalfOnes, kOneF16, kOneBf16 };

template <class Reader>
std::int32_t set(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t bits =
      combined(warp, op, comparison_bits<Reader>(warp, op, op.aux & kOutcomes));
  const std::uint32_t value = kTrueValues[op.aux >> kTrueShift];
  std::uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i) values[i] = (bits & kLaneBits[i]) != 0 ? value : 0u;
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

template <class Half>
std::int32_t set_pair(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::int32_t accepted = op.aux & kOutcomes;
  const std::uint32_t low = combined(warp, op, comparison_bits<Low<Half>>(warp, op, accepted));
  const std::uint32_t high = combined(warp, op, comparison_bits<High<Half>>(warp, op, accepted));
  const std::uint32_t value = kTrueValues[op.aux >> kTrueShift];
  std::uint32_t values[kLanes];
  for (int i = 0; i < kLanes; ++i)
    values[i] =
        ((low & kLaneBits[i]) != 0 ? value : 0u) | ((high & kLaneBits[i]) != 0 ? value << 16 : 0u);
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

template <class T>
Handler integer_setp(std::int32_t accepted) {
  using Bits = std::make_unsigned_t<T>;  // equality does not see the sign
  switch (accepted) {
    case kEqual:
      return setp<kEqual, Bits>;
    case kLess | kGreater:
      return setp<kLess | kGreater, Bits>;
    case kLess:
      return setp<kLess, T>;
    case kLess | kEqual:
      return setp<kLess | kEqual, T>;
    case kGreater:
      return setp<kGreater, T>;
    case kGreater | kEqual:
      return setp<kGreater | kEqual, T>;
    default:
      return nullptr;
  }
}

template <class T>
Handler float_setp(std::int32_t accepted) {
  switch (accepted) {
    case kEqual:
      return setp<kEqual, T>;
    case kLess:
      return setp<kLess, T>;
    case kLess | kEqual:
      return setp<kLess | kEqual, T>;
    case kGreater:
      return setp<kGreater, T>;
    case kGreater | kEqual:
      return setp<kGreater | kEqual, T>;
    case kLess | kGreater | kUnordered:
      return setp<kLess | kGreater | kUnordered, T>;
    case kLess | kUnordered:
      return setp<kLess | kUnordered, T>;
    case kLess | kEqual | kUnordered:
      return setp<kLess | kEqual | kUnordered, T>;
    case kGreater | kUnordered:
      return setp<kGreater | kUnordered, T>;
    case kGreater | kEqual | kUnordered:
      return setp<kGreater | kEqual | kUnordered, T>;
    default:
      return setp_rare<AsIs<T>>;
  }
}

Handler setp_handler(Type type, std::int32_t accepted, bool ftz) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return integer_setp<std::uint16_t>(accepted);
    case Type::s16:
      return integer_setp<std::int16_t>(accepted);
    case Type::b32:
    case Type::u32:
      return integer_setp<std::uint32_t>(accepted);
    case Type::s32:
      return integer_setp<std::int32_t>(accepted);
    case Type::b64:
    case Type::u64:
      return integer_setp<std::uint64_t>(accepted);
    case Type::s64:
      return integer_setp<std::int64_t>(accepted);
    case Type::f32:
      return ftz ? setp_rare<Flushed> : float_setp<float>(accepted);
    case Type::f64:
      return float_setp<double>(accepted);
    case Type::f16:
      return setp_rare<Low<F16>>;
    case Type::bf16:
      return setp_rare<Low<Bf16>>;
    case Type::f16x2:
      return setp_pair<F16>;
    case Type::bf16x2:
      return setp_pair<Bf16>;
    default:
      return nullptr;
  }
}

Handler set_handler(Type type, bool ftz) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return set<AsIs<std::uint16_t>>;
    case Type::s16:
      return set<AsIs<std::int16_t>>;
    case Type::b32:
    case Type::u32:
      return set<AsIs<std::uint32_t>>;
    case Type::s32:
      return set<AsIs<std::int32_t>>;
    case Type::b64:
    case Type::u64:
      return set<AsIs<std::uint64_t>>;
    case Type::s64:
      return set<AsIs<std::int64_t>>;
    case Type::f32:
      return ftz ? set<Flushed> : set<AsIs<float>>;
    case Type::f64:
      return set<AsIs<double>>;
    case Type::f16:
      return set<Low<F16>>;
    case Type::bf16:
      return set<Low<Bf16>>;
    case Type::f16x2:
      return set_pair<F16>;
    case Type::bf16x2:
      return set_pair<Bf16>;
    default:
      return nullptr;
  }
}

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

std::optional<std::int32_t> true_value(Type type, bool pair) {
  switch (type) {
    case Type::u32:
    case Type::s32:
      return pair ? kHalfOnes : kAllOnes;
    case Type::u16:
    case Type::s16:
      return kHalfOnes;
    case Type::f32:
      return kOneF32;
    case Type::f16:
    case Type::f16x2:
      return kOneF16;
    case Type::bf16:
    case Type::bf16x2:
      return kOneBf16;
    default:
      return std::nullopt;
  }
}

Slot slot_of_type(Type type) {
  switch (type) {
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return Slot::b64;
    default:
      return Slot::b32;
  }
}

struct Comparison {
  std::int32_t accepted = 0, combine = 0;
  bool ftz = false;
};

// CmpOp{.BoolOp}{.ftz}
std::optional<Comparison> read_comparison(const Form& form) {
  Comparison comparison;
  if (form.modifier_count == 0) return std::nullopt;
  const auto accepted = accepted_outcomes(form.modifiers[0]);
  if (!accepted) return std::nullopt;
  comparison.accepted = *accepted;
  for (std::size_t k = 1; k < form.modifier_count; ++k) {
    switch (form.modifiers[k]) {
      case Modifier::and_:
        comparison.combine = kAnd;
        break;
      case Modifier::or_:
        comparison.combine = kOr;
        break;
      case Modifier::xor_:
        comparison.combine = kXor;
        break;
      case Modifier::ftz:
        comparison.ftz = true;
        break;
      default:
        return std::nullopt;
    }
  }
  return comparison;
}

Binding comparing(Handler handler, Type type, const Comparison& comparison) {
  Binding binding;
  binding.full = binding.masked = handler;
  binding.src[0] = binding.src[1] = slot_of_type(type);
  if (comparison.combine != 0) binding.src[2] = Slot::predicate;
  binding.aux = comparison.accepted | comparison.combine;
  binding.latency = type == Type::f64 ? 8 : 5;
  binding.pipe = type == Type::f64   ? Pipe::fp64
                 : type == Type::f32 ? Pipe::fp32
                 : is_pair(type)     ? Pipe::half
                                     : Pipe::integer;
  return binding;
}

std::optional<Binding> bind_setp(const Form& form, std::size_t operands) {
  const auto comparison = read_comparison(form);
  if (!comparison || form.type_count != 1) return std::nullopt;
  const Type type = form.type();
  const Handler handler = setp_handler(type, comparison->accepted, comparison->ftz);
  if (handler == nullptr) return std::nullopt;
  Binding binding = comparing(handler, type, *comparison);
  binding.dst[0] = Slot::predicate;
  const std::size_t with_one_result = comparison->combine != 0 ? 4 : 3;
  if (operands == with_one_result + 1) {
    binding.dst[1] = Slot::predicate;
    binding.aux |= kTwoResults;
  } else if (operands != with_one_result || is_pair(type)) {
    return std::nullopt;
  }
  return binding;
}

std::optional<Binding> bind_set(const Form& form) {
  const auto comparison = read_comparison(form);
  if (!comparison || form.type_count != 2) return std::nullopt;
  const Type type = form.types[1];
  const auto value = true_value(form.types[0], is_pair(type));
  const Handler handler = set_handler(type, comparison->ftz);
  if (handler == nullptr || !value) return std::nullopt;
  Binding binding = comparing(handler, type, *comparison);
  binding.dst[0] = Slot::b32;
  binding.aux |= *value << kTrueShift;
  return binding;
}

}  // namespace

std::optional<Binding> bind_compare(const ptx::Function&, const ptx::Instruction& instruction) {
  const auto form = read_form(instruction);
  if (!form || form->rounding != Rounding::none) return std::nullopt;
  if (form->opcode == Opcode::setp) return bind_setp(*form, instruction.operands.size());
  return form->opcode == Opcode::set ? bind_set(*form) : bind_selection(*form);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
