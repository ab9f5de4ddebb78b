// The SIMD video instructions: two or four parts of a register added, compared …, then merged or
// summed up. Only with every part in its place: destination masks and source selectors, which no
// compiler writes, stay unsupported.
#include "sim/alu.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

enum class Part : std::uint8_t { add, sub, average, difference, min, max, compare };

// What one handler does, in the bits of Op::aux.
struct Video {
  Part part = Part::add;
  Modifier comparison = Modifier::eq;
  bool quarters = false;  // four parts of 8 bits, else two of 16
  bool signed_a = false, signed_b = false, signed_d = false;
  bool saturates = false, accumulates = false;

  [[nodiscard]] std::int32_t packed() const {
    return static_cast<std::int32_t>(part) | static_cast<std::int32_t>(comparison) << 8 |
           quarters << 16 | signed_a << 17 | signed_b << 18 | signed_d << 19 | saturates << 20 |
           accumulates << 21;
  }
  static Video unpacked(std::int32_t bits) {
    Video how;
    how.part = static_cast<Part>(bits & 0xff);
    how.comparison = static_cast<Modifier>(bits >> 8 & 0xff);
    how.quarters = (bits >> 16 & 1) != 0;
    how.signed_a = (bits >> 17 & 1) != 0;
    how.signed_b = (bits >> 18 & 1) != 0;
    how.signed_d = (bits >> 19 & 1) != 0;
    how.saturates = (bits >> 20 & 1) != 0;
    how.accumulates = (bits >> 21 & 1) != 0;
    return how;
  }
};

std::int32_t part_at(std::uint32_t word, int shift, int bits, bool is_signed) {
  const std::uint32_t at_top = word << (32 - bits - shift);
  return is_signed ? static_cast<std::int32_t>(at_top) >> (32 - bits)
                   : static_cast<std::int32_t>(at_top >> (32 - bits));
}

bool holds(Modifier comparison, std::int32_t a, std::int32_t b) {
  switch (comparison) {
    case Modifier::eq:
      return a == b;
    case Modifier::ne:
      return a != b;
    case Modifier::lt:
      return a < b;
    case Modifier::le:
      return a <= b;
    case Modifier::gt:
      return a > b;
    default:
      return a >= b;
  }
}

std::int32_t result_of(const Video& how, std::int32_t a, std::int32_t b) {
  switch (how.part) {
    case Part::add:
      return a + b;
    case Part::sub:
      return a - b;
    case Part::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Part::difference:
      return a < b ? b - a : a - b;
    case Part::min:
      return a < b ? a : b;
    case Part::max:
      return a > b ? a : b;
    case Part::compare:
      break;
  }
  return holds(how.comparison, a, b) ? 1 : 0;
}

std::int32_t clamped(const Video& how, std::int32_t value, int bits) {
  const std::int32_t most = how.signed_d ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const std::int32_t least = how.signed_d ? -most - 1 : 0;
  return value > most ? most : (value < least ? least : value);
}

std::uint32_t video(Flags flags, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Video how = Video::unpacked(flags.bits);
  const int bits = how.quarters ? 8 : 16;
  std::uint32_t merged = 0, sum = c;
  for (int shift = 0; shift < 32; shift += bits) {
    std::int32_t value = result_of(how, part_at(a, shift, bits, how.signed_a),
                                   part_at(b, shift, bits, how.signed_b));
    if (how.saturates) value = clamped(how, value, bits);
    const auto word = static_cast<std::uint32_t>(value);
    merged |= (word & ((1u << bits) - 1)) << shift;
    sum += word;
  }
  return how.accumulates ? sum : merged;
}

struct Known {
  Opcode opcode;
  Part part;
  bool quarters;
};
constexpr Known kKnown[] = {
    {Opcode::vadd2, Part::add, false},
    {Opcode::vadd4, Part::add, true},
    {Opcode::vsub2, Part::sub, false},
    {Opcode::vsub4, Part::sub, true},
    {Opcode::vavrg2, Part::average, false},
    {Opcode::vavrg4, Part::average, true},
    {Opcode::vabsdiff2, Part::difference, false},
    {Opcode::vabsdiff4, Part::difference, true},
    {Opcode::vmin2, Part::min, false},
    {Opcode::vmin4, Part::min, true},
    {Opcode::vmax2, Part::max, false},
    {Opcode::vmax4, Part::max, true},
    {Opcode::vset2, Part::compare, false},
    {Opcode::vset4, Part::compare, true},
};

std::optional<bool> signedness(Type type) {
  if (type == Type::s32) return true;
  return type == Type::u32 ? std::optional(false) : std::nullopt;
}

// dtype.atype.btype; a comparison has no dtype.
bool read_types(const Form& form, Video& how) {
  const std::size_t first = how.part == Part::compare ? 0 : 1;
  if (form.type_count != first + 2) return false;
  const auto d = signedness(form.types[0]), a = signedness(form.types[first]),
             b = signedness(form.types[first + 1]);
  if (!d || !a || !b) return false;
  how.signed_d = *d && how.part != Part::compare;
  how.signed_a = *a;
  how.signed_b = *b;
  return true;
}

bool read_modifiers(const Form& form, Video& how) {
  how.saturates = form.has(Modifier::sat);
  how.accumulates = form.has(Modifier::add);
  if (how.part != Part::compare) return form.only({Modifier::sat, Modifier::add});
  using M = Modifier;
  if (!form.only({M::eq, M::ne, M::lt, M::le, M::gt, M::ge, M::add}) || form.modifier_count == 0)
    return false;
  how.comparison = form.modifiers[0];
  return how.comparison != M::add;
}

}  // namespace

std::optional<Binding> bind_video(const Form& form) {
  for (const Known& known : kKnown) {
    if (known.opcode != form.opcode) continue;
    Video how;
    how.part = known.part;
    how.quarters = known.quarters;
    if (!read_types(form, how) || !read_modifiers(form, how)) return std::nullopt;
    return lane_by_lane<video>(Pipe::integer, 8, Flags{how.packed()});
  }
  return std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
