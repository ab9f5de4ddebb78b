// shfl: each lane reads a register of another.
#include "sim/alu.hpp"
#include "sim/families.hpp"
#include "sim/form.hpp"
#include "sim/ops.hpp"
#include "sim/undefined_values.hpp"
#include "sim/warp_wide.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// What a shuffle reads from a lane that takes no part. PTX leaves it undefined, and much correct
// code reads such lanes without using the result, so it is no fault: a NaN and an unlikely integer,
// so that a result which does depend on it is wrong for all to see.
inline constexpr std::uint32_t kFromNowhere = 0x7fc0deadu;

struct Target {
  std::int32_t lane;
  bool in_range;
};

template <Modifier kMode>
CUDAOPT_INLINE Target target_of(std::int32_t lane, std::uint32_t b, std::uint32_t c) {
  const auto distance = static_cast<std::int32_t>(b & 31);
  const auto bound = static_cast<std::int32_t>(c & 31),
             segment = static_cast<std::int32_t>((c >> 8) & 31);
  const std::int32_t first = lane & segment;
  const std::int32_t last = first | (bound & ~segment);
  if constexpr (kMode == Modifier::up) return {lane - distance, lane - distance >= last};
  if constexpr (kMode == Modifier::down) return {lane + distance, lane + distance <= last};
  if constexpr (kMode == Modifier::bfly) return {lane ^ distance, (lane ^ distance) <= last};
  const std::int32_t index = first | (distance & ~segment);
  return {index, index <= last};
}

// Which lanes the shuffle has read, for whoever follows undefined values.
template <Modifier kMode>
[[gnu::noinline]] void tell_sources(Warp& warp, const Op& op, std::uint32_t mask,
                                    const Members& members) {
  const Source<std::uint32_t> b(warp, op, 1), c(warp, op, 2);
  ShuffleSources sources;
  for (int i = 0; i < kLanes; ++i) {
    const Target target = target_of<kMode>(i, b[i], c[i]);
    const std::int32_t lane = target.in_range ? target.lane & 31 : i;
    sources.lane[i] = static_cast<std::uint8_t>(lane);
    if (((members.masks[i] >> lane) & 1) == 0) sources.absent |= kLaneBits[i];
  }
  warp.block->watch->shuffled(warp, op, mask, sources);
}

template <Modifier kMode>
std::int32_t shuffle(Warp& warp, const Op& op, std::uint32_t mask) {
  const Source<std::uint32_t> a(warp, op, 0), b(warp, op, 1), c(warp, op, 2);
  const Members members(warp, op, mask, member_source(op));
  if (!members.all_here) return wait_for_members(warp, op, mask);
  std::uint32_t values[kLanes], in_range = 0;
  for (int i = 0; i < kLanes; ++i) {
    const Target target = target_of<kMode>(i, b[i], c[i]);
    const std::int32_t lane = target.in_range ? target.lane & 31 : i;
    values[i] = ((members.masks[i] >> lane) & 1) != 0 ? a[lane] : kFromNowhere;
    in_range |= target.in_range ? kLaneBits[i] : 0u;
  }
  // Of a warp whose lanes all take part, only who follows something wants to know.
  if (warp.launch->watch != nullptr &&
      (members.masks[0] != kAllLanes || warp.block->watch->undefined().follows(warp)))
    tell_sources<kMode>(warp, op, mask, members);
  store_lanes(warp, op.dst[0], values, mask);
  if (op.dst[1] >= 0) write_predicate(warp, op.dst[1], in_range, mask);
  return op.pc + 1;
}

}  // namespace

// Operands: d{|p}, a, b, c{, mask}
std::optional<Binding> bind_shfl(const Form& form, std::size_t operands) {
  Handler handler = nullptr;
  if (form.has(Modifier::up)) handler = shuffle<Modifier::up>;
  if (form.has(Modifier::down)) handler = shuffle<Modifier::down>;
  if (form.has(Modifier::bfly)) handler = shuffle<Modifier::bfly>;
  if (form.has(Modifier::idx)) handler = shuffle<Modifier::idx>;
  const bool sync = form.has(Modifier::sync);
  const std::size_t sources = sync ? 4 : 3;
  if (handler == nullptr || form.type() != Type::b32 || operands < sources + 1 ||
      operands > sources + 2)
    return std::nullopt;
  Binding binding = warp_wide(handler);
  binding.pipe = Pipe::memory;  // the shuffle network is that of shared memory
  binding.dst[0] = Slot::b32;
  if (operands == sources + 2) binding.dst[1] = Slot::predicate;
  for (std::size_t k = 0; k < sources; ++k) binding.src[k] = Slot::b32;
  binding.aux = member_aux(sync ? 3 : -1);
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
