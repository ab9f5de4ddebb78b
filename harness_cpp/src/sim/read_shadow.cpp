#include "sim/read_shadow.hpp"

#include <cstring>

#include "sim/fault.hpp"

namespace cudaopt::sim {
namespace {

// What happens to fewer lanes than one of these, as when a sum passes near zero, says nothing about
// the instruction; nor do losses that are small on average.
constexpr std::uint64_t kSeldom = 64;
constexpr double kReportedGrowth = 0x1p-16;

struct ElementType {
  CellKind kind = CellKind::empty;
  std::uint32_t bytes = 0;
};

ElementType element_type(const std::string& buffer, const std::string& dtype) {
  if (dtype == "f32") return {CellKind::f32, 4};
  if (dtype == "f16") return {CellKind::f16, 2};
  if (dtype == "bf16") return {CellKind::bf16, 2};
  if (dtype == "f64") return {CellKind::empty, 8};
  throw Fault(
      FaultKind::invalid_request,
      "the shadow of buffer '" + buffer + "': expected dtype f16, bf16, f32 or f64, got " + dtype);
}

std::uint32_t bits_at(const std::vector<std::uint8_t>& bytes, std::size_t at,
                      std::uint32_t element_bytes) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, element_bytes);
  return bits;
}

// f64 is its own shadow.
ShadowValues as_it_is(const std::vector<std::uint8_t>& bytes) {
  ShadowValues shadow;
  shadow.values.resize(bytes.size() / sizeof(double));
  if (!shadow.values.empty())
    std::memcpy(shadow.values.data(), bytes.data(), shadow.values.size() * sizeof(double));
  shadow.states.assign(shadow.values.size(), ShadowValues::exact);
  return shadow;
}

std::uint8_t state_of(std::uint8_t cell) {
  if ((cell & kUndecided) != 0) return ShadowValues::undecided;
  return (cell & kReseeded) != 0 ? ShadowValues::reseeded : ShadowValues::exact;
}

}  // namespace

ShadowValues read_shadow(const DeviceMemory& memory, const MemoryShadow& shadow,
                         const std::string& buffer, const std::string& dtype) {
  const ElementType type = element_type(buffer, dtype);
  const std::vector<std::uint8_t> bytes = memory.read(buffer);
  if (bytes.size() % type.bytes != 0) {
    throw Fault(FaultKind::invalid_request, "the shadow of buffer '" + buffer + "': its " +
                                                std::to_string(bytes.size()) +
                                                " bytes are no whole number of " + dtype);
  }
  if (type.kind == CellKind::empty) return as_it_is(bytes);
  const std::uint64_t address = memory.address_of(buffer);
  const std::uint64_t allocation = (address + kGlobalStride / 2) / kGlobalStride;
  const std::uint64_t first = address - memory.allocations()[allocation].base;
  const ShadowCells& cells = shadow.cells_of(allocation);
  ShadowValues read;
  read.values.resize(bytes.size() / type.bytes);
  read.states.resize(read.values.size());
  if (cells.count == 0) return read;
  for (std::size_t i = 0; i < read.values.size(); ++i) {
    const std::uint64_t at = (first + i * type.bytes) / cells.cell_bytes;
    const auto kind = static_cast<CellKind>(cells.states[at] >> kKindShift);
    const bool aligned = (first + i * type.bytes) % cells.cell_bytes == 0;
    if (!aligned || kind != type.kind ||
        cells.bits[at] != bits_at(bytes, i * type.bytes, type.bytes))
      continue;
    read.values[i] = cells.values[at];
    read.states[i] = state_of(cells.states[at]);
  }
  return read;
}

std::optional<RoundingLoss> rounding_loss(const Launch& launch, const LaunchShadow& shadow) {
  const std::vector<LossCount>& losses = shadow.losses();
  RoundingLoss loss;
  std::size_t found = losses.size();
  for (std::size_t pc = 0; pc < losses.size(); ++pc) {
    if (losses[pc].losing_lanes * kSeldom < losses[pc].lanes || losses[pc].lanes == 0) continue;
    const double mean =
        static_cast<double>(losses[pc].growth) * 0x1p-32 / static_cast<double>(losses[pc].lanes);
    if (mean <= loss.mean_growth) continue;
    loss.mean_growth = mean;
    found = pc;
  }
  if (found == losses.size() || loss.mean_growth < kReportedGrowth) return std::nullopt;
  const Loss& worst = losses[found].worst;
  loss.growth = worst.growth;
  loss.value = worst.value;
  loss.shadow = worst.shadow;
  add_source(*launch.program, launch.program->code[found], loss.where);
  const Dim3 &grid = launch.grid, &block = launch.block;
  loss.where.block = {static_cast<std::uint32_t>(worst.block % grid.x),
                      static_cast<std::uint32_t>(worst.block / grid.x % grid.y),
                      static_cast<std::uint32_t>(worst.block / grid.x / grid.y)};
  loss.where.thread = {worst.thread % block.x, worst.thread / block.x % block.y,
                       worst.thread / block.x / block.y};
  return loss;
}

}  // namespace cudaopt::sim
