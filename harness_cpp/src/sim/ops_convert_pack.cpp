// cvt.pack: two integers clamped to 8 or 16 bits and joined, above them the low bits of a third.
#include <limits>

#include "sim/alu.hpp"
#include "sim/families.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

template <class T>
CUDAOPT_INLINE std::uint32_t clamped(std::int32_t value) {
  constexpr std::int32_t kLeast = std::numeric_limits<T>::min();
  constexpr std::int32_t kMost = std::numeric_limits<T>::max();
  value = value < kLeast ? kLeast : value;
  return static_cast<std::make_unsigned_t<T>>(value > kMost ? kMost : value);
}

template <class T>
CUDAOPT_INLINE std::uint32_t joined(std::int32_t upper, std::int32_t lower) {
  return clamped<T>(upper) << (8 * sizeof(T)) | clamped<T>(lower);
}

template <class T>
CUDAOPT_INLINE std::uint32_t joined_below(std::int32_t upper, std::int32_t lower,
                                          std::uint32_t rest) {
  return rest << (16 * sizeof(T)) | joined<T>(upper, lower);
}

constexpr std::uint16_t kLatency = 8;

}  // namespace

std::optional<Binding> bind_pack_integers(const Form& form) {
  if (!form.has(Modifier::sat) || !form.only({Modifier::pack, Modifier::sat})) return std::nullopt;
  if (form.type_count < 2 || form.types[1] != Type::s32) return std::nullopt;
  const bool with_rest = form.type_count == 3 && form.types[2] == Type::b32;
  if (form.type_count != (with_rest ? 3 : 2)) return std::nullopt;
  switch (form.types[0]) {
    case Type::u16:
      if (with_rest) return std::nullopt;
      return lanewise<joined<std::uint16_t>>(Pipe::integer, kLatency);
    case Type::s16:
      if (with_rest) return std::nullopt;
      return lanewise<joined<std::int16_t>>(Pipe::integer, kLatency);
    case Type::u8:
      if (!with_rest) return std::nullopt;
      return lanewise<joined_below<std::uint8_t>>(Pipe::integer, kLatency);
    case Type::s8:
      if (!with_rest) return std::nullopt;
      return lanewise<joined_below<std::int8_t>>(Pipe::integer, kLatency);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
