// cvt between any two types, through a 64-bit integer or a double per lane: read, round, clamp,
// write, each one loop over the lanes.
#include "sim/conversion.hpp"
#include "sim/convert.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

IntegerType integer_type(Type type) {
  switch (type) {
    case Type::u8:
    case Type::b8:
      return {8, false};
    case Type::s8:
      return {8, true};
    case Type::u16:
    case Type::b16:
      return {16, false};
    case Type::s16:
      return {16, true};
    case Type::u32:
    case Type::b32:
      return {32, false};
    case Type::s32:
      return {32, true};
    case Type::u64:
    case Type::b64:
      return {64, false};
    case Type::s64:
      return {64, true};
    default:
      return {};
  }
}

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::tf32 || type == Type::f32 ||
         type == Type::f64;
}

namespace {

CUDAOPT_INLINE std::int64_t extended(std::int64_t value, IntegerType type) {
  const int unused = 64 - type.bits;
  const auto at_top = static_cast<std::uint64_t>(value) << unused;
  return type.is_signed ? static_cast<std::int64_t>(at_top) >> unused
                        : static_cast<std::int64_t>(at_top >> unused);
}

void read_integers(Warp& warp, const Op& op, const Conversion& how, std::int64_t* values) {
  const IntegerType type = integer_type(how.from);
  if (how.wide_source) {
    const Source<std::int64_t> a(warp, op, 0);
    for (int i = 0; i < kLanes; ++i) values[i] = extended(a[i], type);
  } else {
    const Source<std::uint32_t> a(warp, op, 0);
    for (int i = 0; i < kLanes; ++i) values[i] = extended(a[i], type);
  }
}

template <class T, class Decode>
CUDAOPT_INLINE void read_lanes(Warp& warp, const Op& op, double* values, Decode decode) {
  const Source<T> a(warp, op, 0);
  for (int i = 0; i < kLanes; ++i) values[i] = decode(a[i]);
}

void read_floats(Warp& warp, const Op& op, const Conversion& how, double* values) {
  switch (how.from) {
    case Type::f16:
      return read_lanes<std::uint32_t>(warp, op, values, f64_of_f16);
    case Type::bf16:
      return read_lanes<std::uint32_t>(warp, op, values, [](std::uint32_t x) {
        return static_cast<double>(bits_as<float>(x << 16));
      });
    case Type::f64:
      return read_lanes<double>(warp, op, values, [](double x) { return x; });
    default:
      break;
  }
  if (how.ftz)
    return read_lanes<float>(warp, op, values, [](float x) { return flush(canonical(x)); });
  read_lanes<float>(warp, op, values, [](float x) { return x; });
}

void read_as_doubles(Warp& warp, const Op& op, const Conversion& how, double* values) {
  if (is_float(how.from)) return read_floats(warp, op, how, values);
  std::int64_t integers[kLanes];
  read_integers(warp, op, how, integers);
  if (how.from == Type::u64) {
    for (int i = 0; i < kLanes; ++i) values[i] = sticky_of(static_cast<std::uint64_t>(integers[i]));
  } else {
    for (int i = 0; i < kLanes; ++i) values[i] = sticky_of(integers[i]);
  }
}

// Wider registers than the type take the value extended; narrow ones keep zero upper bits.
void write_integers(Warp& warp, const Op& op, const Conversion& how, std::int64_t* values,
                    std::uint32_t mask) {
  const IntegerType type = integer_type(how.to);
  for (int i = 0; i < kLanes; ++i) values[i] = extended(values[i], type);
  if (how.register_bits == 64) return store_lanes(warp, op.dst[0], values, mask);
  const std::uint32_t kept = how.register_bits == 16 ? 0xffffu : 0xffffffffu;
  std::uint32_t narrow[kLanes];
  for (int i = 0; i < kLanes; ++i) narrow[i] = static_cast<std::uint32_t>(values[i]) & kept;
  store_lanes(warp, op.dst[0], narrow, mask);
}

template <class Format>
void round_all(double* values, Rounding rounding) {
  switch (rounding) {
    case Rounding::rz:
      for (int i = 0; i < kLanes; ++i) values[i] = round_to<Format>(values[i], Rounding::rz);
      break;
    case Rounding::rm:
      for (int i = 0; i < kLanes; ++i) values[i] = round_to<Format>(values[i], Rounding::rm);
      break;
    case Rounding::rp:
      for (int i = 0; i < kLanes; ++i) values[i] = round_to<Format>(values[i], Rounding::rp);
      break;
    case Rounding::rna:
      for (int i = 0; i < kLanes; ++i) values[i] = round_to<Format>(values[i], Rounding::rna);
      break;
    default:
      for (int i = 0; i < kLanes; ++i) values[i] = round_to<Format>(values[i], Rounding::rn);
  }
}

// NaNs become the canonical one, except that those of f64 keep what fits of them.
template <class Half>
void write_halves(Warp& warp, const Op& op, const Conversion& how, const double* values,
                  std::uint32_t mask) {
  std::uint32_t halves[kLanes];
  for (int i = 0; i < kLanes; ++i) halves[i] = Half::encode(static_cast<float>(values[i]));
  if (how.from == Type::f64)
    for (int i = 0; i < kLanes; ++i)
      halves[i] = values[i] != values[i] ? narrowed_nan<Half>(values[i]) : halves[i];
  store_lanes(warp, op.dst[0], halves, mask);
}

void write_f32(Warp& warp, const Op& op, const Conversion& how, const double* values,
               std::uint32_t mask) {
  float floats[kLanes];
  for (int i = 0; i < kLanes; ++i) floats[i] = static_cast<float>(values[i]);
  if (how.from != Type::f64)
    for (int i = 0; i < kLanes; ++i) floats[i] = canonical(floats[i]);
  if (how.ftz)
    for (int i = 0; i < kLanes; ++i) floats[i] = flush(floats[i]);
  store_lanes(warp, op.dst[0], floats, mask);
}

// // The low bits are zero, those of NaN too.
void write_tf32(Warp& warp, const Op& op, const double* values, std::uint32_t mask) {
  std::uint32_t words[kLanes];
  for (int i = 0; i < kLanes; ++i)
    words[i] = bits_as<std::uint32_t>(canonical(static_cast<float>(values[i]))) & ~0x1fffu;
  store_lanes(warp, op.dst[0], words, mask);
}

double largest_finite(Type type) {
  if (type == Type::f16) return 65504.0;
  return type == Type::bf16 ? 0x1.fep127 : 0x1.ffcp127;
}

// Clamping commutes with rounding, 0, 1 and the largest number being numbers of the format.
void clamp_all(const Conversion& how, double* values) {
  if (how.satfinite) {
    const double most = largest_finite(how.to);
    for (int i = 0; i < kLanes; ++i)
      values[i] = magnitude(values[i]) > most ? with_sign_of(most, values[i]) : values[i];
  }
  if (how.sat)
    for (int i = 0; i < kLanes; ++i) values[i] = saturate(values[i]);
  if (how.relu)
    for (int i = 0; i < kLanes; ++i)
      values[i] = sign_bit(values[i]) && values[i] == values[i] ? 0.0 : values[i];
}

void write_floats(Warp& warp, const Op& op, const Conversion& how, double* values,
                  std::uint32_t mask) {
  clamp_all(how, values);
  switch (how.to) {
    case Type::f16:
      round_all<FormatF16>(values, how.rounding);
      return write_halves<F16>(warp, op, how, values, mask);
    case Type::bf16:
      round_all<FormatBf16>(values, how.rounding);
      return write_halves<Bf16>(warp, op, how, values, mask);
    case Type::tf32:
      round_all<FormatTf32>(values, how.rounding);
      return write_tf32(warp, op, values, mask);
    case Type::f32:
      round_all<FormatF32>(values, how.rounding);
      return write_f32(warp, op, how, values, mask);
    default:
      break;
  }
  for (int i = 0; i < kLanes; ++i) values[i] = keeping_nan(values[i], values[i]);
  store_lanes(warp, op.dst[0], values, mask);
}

std::int64_t saturated(std::int64_t value, bool source_is_u64, IntegerType to) {
  if (source_is_u64 && value < 0) value = INT64_MAX;  // beyond every type but u64
  if (!to.is_signed && value < 0) return 0;
  if (to.bits == 64) return value;
  const std::int64_t most = (std::int64_t{1} << (to.bits - to.is_signed)) - 1;
  const std::int64_t least = to.is_signed ? -most - 1 : 0;
  return value > most ? most : (value < least ? least : value);
}

std::int32_t integer_to_integer(Warp& warp, const Op& op, std::uint32_t mask) {
  const Conversion how = Conversion::unpacked(op.aux);
  std::int64_t values[kLanes];
  read_integers(warp, op, how, values);
  if (how.sat && !(how.from == Type::u64 && how.to == Type::u64))
    for (int i = 0; i < kLanes; ++i)
      values[i] = saturated(values[i], how.from == Type::u64, integer_type(how.to));
  write_integers(warp, op, how, values, mask);
  return op.pc + 1;
}

void whole_all(double* values, Rounding rounding) {
  switch (rounding) {
    case Rounding::rzi:
      for (int i = 0; i < kLanes; ++i) values[i] = whole(values[i], Rounding::rzi);
      break;
    case Rounding::rmi:
      for (int i = 0; i < kLanes; ++i) values[i] = whole(values[i], Rounding::rmi);
      break;
    case Rounding::rpi:
      for (int i = 0; i < kLanes; ++i) values[i] = whole(values[i], Rounding::rpi);
      break;
    default:
      for (int i = 0; i < kLanes; ++i) values[i] = whole(values[i], Rounding::rni);
  }
}

std::int32_t float_to_integer(Warp& warp, const Op& op, std::uint32_t mask) {
  const Conversion how = Conversion::unpacked(op.aux);
  const IntegerType to = integer_type(how.to);
  double values[kLanes];
  std::int64_t integers[kLanes];
  read_floats(warp, op, how, values);
  whole_all(values, how.rounding);
  if (to.bits < 64) {
    const double most = static_cast<double>((std::int64_t{1} << (to.bits - to.is_signed)) - 1);
    const double least = to.is_signed ? -most - 1.0 : 0.0;
    const double top_bit = to.is_signed ? least : (most + 1.0) / 2;
    const double of_nan = how.from == Type::f64 ? top_bit : 0.0;
    for (int i = 0; i < kLanes; ++i) integers[i] = to_narrow(values[i], least, most, of_nan);
  } else if (to.is_signed) {
    for (int i = 0; i < kLanes; ++i) integers[i] = to_s64(values[i]);
  } else {
    for (int i = 0; i < kLanes; ++i) integers[i] = static_cast<std::int64_t>(to_u64(values[i]));
  }
  write_integers(warp, op, how, integers, mask);
  return op.pc + 1;
}

std::int32_t any_to_float(Warp& warp, const Op& op, std::uint32_t mask) {
  const Conversion how = Conversion::unpacked(op.aux);
  double values[kLanes];
  read_as_doubles(warp, op, how, values);
  write_floats(warp, op, how, values, mask);
  return op.pc + 1;
}

std::int32_t float_to_whole_float(Warp& warp, const Op& op, std::uint32_t mask) {
  const Conversion how = Conversion::unpacked(op.aux);
  double values[kLanes];
  read_floats(warp, op, how, values);
  whole_all(values, how.rounding);
  write_floats(warp, op, how, values, mask);
  return op.pc + 1;
}

std::int32_t integer_to_f64(Warp& warp, const Op& op, std::uint32_t mask) {
  const Conversion how = Conversion::unpacked(op.aux);
  std::int64_t integers[kLanes];
  double values[kLanes];
  read_integers(warp, op, how, integers);
  for (int i = 0; i < kLanes; ++i)
    values[i] = how.from == Type::u64
                    ? to_f64(static_cast<std::uint64_t>(integers[i]), how.rounding)
                    : to_f64(integers[i], how.rounding);
  if (how.sat)
    for (int i = 0; i < kLanes; ++i) values[i] = saturate(values[i]);
  store_lanes(warp, op.dst[0], values, mask);
  return op.pc + 1;
}

bool rounds_to_whole(Rounding rounding) { return rounding >= Rounding::rni; }

Handler general_handler(const Conversion& how) {
  const bool from_float = is_float(how.from);
  if (!is_float(how.to)) return from_float ? float_to_integer : integer_to_integer;
  if (!from_float) return how.to == Type::f64 ? integer_to_f64 : any_to_float;
  return rounds_to_whole(how.rounding) ? float_to_whole_float : any_to_float;
}

}  // namespace

Binding bind_general_conversion(const Conversion& how) {
  Binding binding;
  binding.full = binding.masked = general_handler(how);
  binding.dst[0] = how.register_bits == 64 ? Slot::b64 : Slot::b32;
  binding.src[0] = how.wide_source ? Slot::b64 : Slot::b32;
  binding.aux = how.packed();
  const bool fp64 = how.from == Type::f64 || how.to == Type::f64;
  const bool floating = is_float(how.from) || is_float(how.to);
  binding.pipe = fp64 ? Pipe::fp64 : (floating ? Pipe::special : Pipe::integer);
  binding.latency = fp64 ? kDoubleConversion : (floating ? kConversion : kSimpleConversion);
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
