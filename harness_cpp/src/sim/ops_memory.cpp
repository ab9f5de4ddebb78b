// ld, st and their kin. A warp's access is checked and counted through its address pattern; only
// what a pattern cannot answer (other windows, several arrays, faults) is resolved lane by lane.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "sim/lane_copy.hpp"
#include "sim/memory_form.hpp"
#include "sim/ops.hpp"
#include "sim/reach.hpp"
#include "sim/scattered_access.hpp"
#include "sim/watch_access.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

constexpr std::uint16_t kLoadLatency = 30;  // refined per access by the tracer

// The registers of one access, as the element's natural lanes.
template <class T, int N>
struct Registers {
  LaneOf<T>* of[N];
};

template <class T, int N>
[[nodiscard]] inline Registers<T, N> destinations(Warp& warp, const Op& op) {
  Registers<T, N> registers;
  for (int k = 0; k < N; ++k) registers.of[k] = lanes<LaneOf<T>>(warp, op.dst[k]);
  return registers;
}

template <class T, int N>
[[nodiscard]] inline Registers<T, N> sources(Warp& warp, const Op& op) {
  Registers<T, N> registers;
  for (int k = 0; k < N; ++k) registers.of[k] = lanes<LaneOf<T>>(warp, op.src[k + 1]);
  return registers;
}

// Registers wider than the element take their values through lanes of the element's own width.
template <class T, int N>
struct NarrowLanes {
  alignas(64) LaneOf<T> value[N][kLanes] = {};

  [[nodiscard]] Registers<T, N> registers() {
    Registers<T, N> registers;
    for (int k = 0; k < N; ++k) registers.of[k] = value[k];
    return registers;
  }
  void extend_into(Warp& warp, const Op& op, std::uint32_t mask) const {
    if constexpr (sizeof(T) < 8) {
      for (int k = 0; k < N; ++k) extend_lanes(extension_of(op), value[k], warp, op.dst[k], mask);
    }
  }
  void read_from(Warp& warp, const Op& op) {
    for (int k = 0; k < N; ++k) {
      const std::uint64_t* wide = lanes<std::uint64_t>(warp, op.src[k + 1]);
      for (int i = 0; i < kLanes; ++i) value[k][i] = static_cast<LaneOf<T>>(wide[i]);
    }
  }
};

template <class T>
[[nodiscard]] inline bool is_extended(const Op& op) {
  return sizeof(T) < 8 && extension_of(op) != Extension::none;
}

template <class T, int N, bool Full>
[[gnu::noinline]] std::int32_t load_extended(Warp& warp, const Op& op, std::uint32_t mask,
                                             const AddressPattern& pattern,
                                             const std::uint8_t* host) {
  NarrowLanes<T, N> narrow;
  load_lanes<T, N, Full>(narrow.registers().of, pattern, host, lane_mask(warp, mask), mask);
  narrow.extend_into(warp, op, mask);
  return op.pc + 1;
}

template <class T, int N, bool Full>
[[gnu::noinline]] std::int32_t store_narrowed(Warp& warp, const Op& op, std::uint32_t mask,
                                              const AddressPattern& pattern, std::uint8_t* host) {
  NarrowLanes<T, N> narrow;
  narrow.read_from(warp, op);
  store_lanes<T, N, Full>(narrow.registers().of, pattern, host, mask);
  return op.pc + 1;
}

template <class T, int N, class A, bool Watched>
[[gnu::noinline]] std::int32_t load_scattered(Warp& warp, const Op& op, std::uint32_t mask) {
  const Addresses addresses = spread(lanes<A>(warp, op.src[0]), op.imm, mask);
  const HostAddresses host =
      resolve_lanes(warp, op, addresses, mask, sizeof(T) * N, AccessKind::load);
  if constexpr (Watched) watch_lanes(warp, op, addresses, mask, AccessKind::load);
  NarrowLanes<T, N> narrow;
  const auto to = is_extended<T>(op) ? narrow.registers() : destinations<T, N>(warp, op);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    for (int k = 0; k < N; ++k) to.of[k][i] = read_at<T>(host.of[i] + k * sizeof(T));
  }
  if (is_extended<T>(op)) narrow.extend_into(warp, op, mask);
  return op.pc + 1;
}

template <class T, int N, class A, bool Watched>
[[gnu::noinline]] std::int32_t store_scattered(Warp& warp, const Op& op, std::uint32_t mask) {
  const Addresses addresses = spread(lanes<A>(warp, op.src[0]), op.imm, mask);
  const HostAddresses host =
      resolve_lanes(warp, op, addresses, mask, sizeof(T) * N, AccessKind::store);
  if constexpr (Watched) watch_lanes(warp, op, addresses, mask, AccessKind::store);
  NarrowLanes<T, N> narrow;
  if (is_extended<T>(op)) narrow.read_from(warp, op);
  const auto from = is_extended<T>(op) ? narrow.registers() : sources<T, N>(warp, op);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    for (int k = 0; k < N; ++k) {
      write_at(host.of[i] + k * sizeof(T), static_cast<T>(from.of[k][i]));
    }
  }
  return op.pc + 1;
}

template <class Space, class T, int N, bool Full, bool Watched>
std::int32_t load(Warp& warp, const Op& op, std::uint32_t mask);

template <class Space, class T, int N, bool Full, bool Watched>
std::int32_t store(Warp& warp, const Op& op, std::uint32_t mask);

template <class Space, class T, int N, bool Full, bool Watched>
[[gnu::noinline]] std::int32_t load_prepared(Warp& warp, const Op& op, std::uint32_t mask) {
  const bool known = prepare<Space, sizeof(T) * N>(warp, op, mask);
  return known ? load<Space, T, N, Full, Watched>(warp, op, mask)
               : load_scattered<T, N, typename Space::Address, Watched>(warp, op, mask);
}

template <class Space, class T, int N, bool Full, bool Watched>
[[gnu::noinline]] std::int32_t store_prepared(Warp& warp, const Op& op, std::uint32_t mask) {
  const bool known = prepare<Space, sizeof(T) * N>(warp, op, mask);
  return known ? store<Space, T, N, Full, Watched>(warp, op, mask)
               : store_scattered<T, N, typename Space::Address, Watched>(warp, op, mask);
}

// The hot path holds no call but tail calls, so it needs no frame.
template <class Space, class T, int N, bool Full, bool Watched>
std::int32_t load(Warp& warp, const Op& op, std::uint32_t mask) {
  using Address = typename Space::Address;
  constexpr std::uint32_t kBytes = sizeof(T) * N;
  AddressPattern& pattern = warp.block->patterns[op.memo];
  const auto* addresses = lanes<Address>(warp, op.src[0]);
  const Address first = addresses[Full ? 0 : __builtin_ctz(mask)];
  const Address address = first + static_cast<Address>(op.imm);
  const std::uint32_t cost = pattern.cost[address % Space::kPhases];
  if (cost == 0 || !is_known<Full>(warp, op, pattern, addresses, first, mask)) {
    return load_prepared<Space, T, N, Full, Watched>(warp, op, mask);
  }
  const std::uint8_t* host = Space::template reach<kBytes, false>(warp, pattern, address);
  if (host == nullptr) return load_scattered<T, N, Address, Watched>(warp, op, mask);
  if constexpr (Watched) {
    watch_pattern<Space, AccessKind::load>(warp, op, mask, pattern, address);
  }
  Space::template count<false>(*warp.counters, cost);
  if (is_extended<T>(op)) return load_extended<T, N, Full>(warp, op, mask, pattern, host);
  load_lanes<T, N, Full>(destinations<T, N>(warp, op).of, pattern, host,
                         Full ? nullptr : lane_mask(warp, mask), mask);
  return op.pc + 1;
}

template <class Space, class T, int N, bool Full, bool Watched>
std::int32_t store(Warp& warp, const Op& op, std::uint32_t mask) {
  using Address = typename Space::Address;
  constexpr std::uint32_t kBytes = sizeof(T) * N;
  AddressPattern& pattern = warp.block->patterns[op.memo];
  const auto* addresses = lanes<Address>(warp, op.src[0]);
  const Address first = addresses[Full ? 0 : __builtin_ctz(mask)];
  const Address address = first + static_cast<Address>(op.imm);
  const std::uint32_t cost = pattern.cost[address % Space::kPhases];
  if (cost == 0 || !is_known<Full>(warp, op, pattern, addresses, first, mask)) {
    return store_prepared<Space, T, N, Full, Watched>(warp, op, mask);
  }
  std::uint8_t* host = Space::template reach<kBytes, true>(warp, pattern, address);
  if (host == nullptr) return store_scattered<T, N, Address, Watched>(warp, op, mask);
  if constexpr (Watched) {
    watch_pattern<Space, AccessKind::store>(warp, op, mask, pattern, address);
  }
  Space::template count<true>(*warp.counters, cost);
  if (is_extended<T>(op)) return store_narrowed<T, N, Full>(warp, op, mask, pattern, host);
  store_lanes<T, N, Full>(sources<T, N>(warp, op).of, pattern, host, mask);
  return op.pc + 1;
}

// ld.param of an entry's parameter: decode has preloaded the value.
template <class T, int N>
std::int32_t copy_parameter(Warp& warp, const Op& op, std::uint32_t mask) {
  const std::uint32_t* in_mask = lane_mask(warp, mask);
  for (int k = 0; k < N; ++k) {
    const T* from = lanes<T>(warp, op.src[k]);
    T* to = lanes<T>(warp, op.dst[k]);
    for (int i = 0; i < kLanes; ++i) to[i] = in_mask[i] != 0 ? from[i] : to[i];
  }
  return op.pc + 1;
}

std::int32_t no_effect(Warp&, const Op& op, std::uint32_t) { return op.pc + 1; }

enum class Path { global, shared, scattered_wide, scattered_narrow };

struct Handlers {
  Handler full, masked;
};

Handlers both(Handler handler) { return {handler, handler}; }

template <class T, int N, bool Watched>
Handlers load_handlers(Path path) {
  switch (path) {
    case Path::global:
      return {load<GlobalAccess, T, N, true, Watched>, load<GlobalAccess, T, N, false, Watched>};
    case Path::shared:
      return {load<SharedAccess, T, N, true, Watched>, load<SharedAccess, T, N, false, Watched>};
    case Path::scattered_wide:
      return both(load_scattered<T, N, std::uint64_t, Watched>);
    case Path::scattered_narrow:
      break;
  }
  return both(load_scattered<T, N, std::uint32_t, Watched>);
}

template <class T, int N, bool Watched>
Handlers store_handlers(Path path) {
  switch (path) {
    case Path::global:
      return {store<GlobalAccess, T, N, true, Watched>, store<GlobalAccess, T, N, false, Watched>};
    case Path::shared:
      return {store<SharedAccess, T, N, true, Watched>, store<SharedAccess, T, N, false, Watched>};
    case Path::scattered_wide:
      return both(store_scattered<T, N, std::uint64_t, Watched>);
    case Path::scattered_narrow:
      break;
  }
  return both(store_scattered<T, N, std::uint32_t, Watched>);
}

template <class T, int N, bool Watched>
Handlers access_handlers(bool store, Path path) {
  return store ? store_handlers<T, N, Watched>(path) : load_handlers<T, N, Watched>(path);
}

template <class T, bool Watched>
Handlers access_handlers(bool store, Path path, std::uint32_t elements) {
  if (elements == 1) return access_handlers<T, 1, Watched>(store, path);
  return elements == 2 ? access_handlers<T, 2, Watched>(store, path)
                       : access_handlers<T, 4, Watched>(store, path);
}

template <bool Watched>
Handlers access_handlers(bool store, Path path, const MemoryForm& form) {
  switch (form.element_bytes) {
    case 1:
      return access_handlers<std::uint8_t, Watched>(store, path, form.elements);
    case 2:
      return access_handlers<std::uint16_t, Watched>(store, path, form.elements);
    case 4:
      return access_handlers<std::uint32_t, Watched>(store, path, form.elements);
    default:
      return access_handlers<std::uint64_t, Watched>(store, path, form.elements);
  }
}

Path path_of(const MemoryForm& form) {
  if (form.space == ptx::Space::shared && !form.wide_address) return Path::shared;
  if (!form.wide_address) return Path::scattered_narrow;
  const bool reaches_global = form.space == ptx::Space::global || form.space == ptx::Space::none;
  return reaches_global ? Path::global : Path::scattered_wide;
}

template <class T>
Handler parameter_handler(std::uint32_t elements) {
  if (elements == 1) return copy_parameter<T, 1>;
  return elements == 2 ? copy_parameter<T, 2> : copy_parameter<T, 4>;
}

Slot value_slot(const MemoryForm& form) {
  const bool wide = form.element_bytes == 8 || form.extension >= Extension::to_64;
  return wide ? Slot::b64 : Slot::b32;
}

Binding bind_parameter(const MemoryForm& form) {
  Binding binding;
  const Slot slot = value_slot(form);
  for (std::uint32_t k = 0; k < form.elements; ++k) binding.dst[k] = binding.src[k] = slot;
  binding.full = binding.masked = slot == Slot::b64
                                      ? parameter_handler<std::uint64_t>(form.elements)
                                      : parameter_handler<std::uint32_t>(form.elements);
  binding.pipe = Pipe::integer;  // a move from the constant bank, not a request to memory
  return binding;
}

Binding bind_access(const MemoryForm& form, bool store, Watch watch) {
  Binding binding;
  binding.pipe = Pipe::memory;
  binding.latency = kLoadLatency;
  binding.aux = memory_aux(form);
  binding.src[0] = form.wide_address ? Slot::b64 : Slot::b32;
  for (std::uint32_t k = 0; k < form.elements; ++k) {
    (store ? binding.src[k + 1] : binding.dst[k]) = value_slot(form);
  }
  const Path path = path_of(form);
  const Handlers handlers = watch == Watch::nothing ? access_handlers<false>(store, path, form)
                                                    : access_handlers<true>(store, path, form);
  binding.full = handlers.full;
  binding.masked = handlers.masked;
  return binding;
}

// There is no cache to direct: these promise nothing about memory.
bool directs_caches(std::string_view opcode) {
  static constexpr std::string_view kOpcodes[] = {"prefetch", "prefetchu", "createpolicy",
                                                  "applypriority", "discard"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), opcode) != std::end(kOpcodes);
}

Binding bind_no_effect() {
  Binding binding;
  binding.full = binding.masked = no_effect;
  binding.pipe = Pipe::memory;
  return binding;
}

}  // namespace

std::optional<Binding> bind_memory(const ptx::Function& function,
                                   const ptx::Instruction& instruction, Watch watch) {
  const bool store = instruction.opcode == "st";
  if (store || instruction.opcode == "ld" || instruction.opcode == "ldu") {
    const auto form = memory_form(function, instruction);
    if (!form || form->parameter_words) return std::nullopt;
    return form->parameter_by_name ? bind_parameter(*form) : bind_access(*form, store, watch);
  }
  return directs_caches(instruction.opcode) ? std::optional(bind_no_effect()) : std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
