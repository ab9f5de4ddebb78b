// ldmatrix, stmatrix and movmatrix: matrices of 8 by 8 halves between shared memory and registers.
// Lane l of a register holds elements 2*(l%4) and the next of row l/4; with .trans, of column l/4.
#include <cstdint>
#include <cstring>

#include "sim/alu.hpp"
#include "sim/ops.hpp"
#include "sim/scattered_access.hpp"
#include "sim/watch_rows.hpp"
#include "sim/whole_warp.hpp"
#include "sim/wide_operands.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

constexpr std::uint32_t kRowBytes = 16;

// One matrix: rows as they lie in memory.
struct Matrix {
  std::uint16_t at[8][8];
};

constexpr std::int32_t kTransposed = 1;

bool is_transposed(const Op& op) { return (op.aux & kTransposed) != 0; }

std::uint32_t pair_of_lane(const Matrix& matrix, std::uint32_t lane, bool transposed) {
  const std::uint32_t group = lane / 4, first = lane % 4 * 2;
  const auto pair = [](std::uint32_t low, std::uint32_t high) { return low | high << 16; };
  return transposed ? pair(matrix.at[first][group], matrix.at[first + 1][group])
                    : pair(matrix.at[group][first], matrix.at[group][first + 1]);
}

void set_pair(Matrix& matrix, std::uint32_t lane, bool transposed, std::uint32_t pair) {
  const std::uint32_t group = lane / 4, first = lane % 4 * 2;
  std::uint16_t& low = transposed ? matrix.at[first][group] : matrix.at[group][first];
  std::uint16_t& high = transposed ? matrix.at[first + 1][group] : matrix.at[group][first + 1];
  low = static_cast<std::uint16_t>(pair);
  high = static_cast<std::uint16_t>(pair >> 16);
}

// Row r of matrix m is where lane 8*m + r points.
template <int kMatrices>
HostAddresses rows_of(Warp& warp, const Op& op, AccessKind kind) {
  constexpr std::uint32_t kRows = kAllLanes >> (kLanes - 8 * kMatrices);
  const Addresses addresses = op.address == Slot::b64
                                  ? spread(lanes<std::uint64_t>(warp, op.src[0]), op.imm, kRows)
                                  : spread(lanes<std::uint32_t>(warp, op.src[0]), op.imm, kRows);
  const HostAddresses rows = resolve_lanes(warp, op, addresses, kRows, kRowBytes, kind);
  watch_rows(warp, op, space_of(op), addresses, kRows, kRowBytes, kind);
  return rows;
}

template <int kMatrices>
std::int32_t load_matrices(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
  const HostAddresses rows = rows_of<kMatrices>(warp, op, AccessKind::load);
  Matrix matrices[kMatrices];
  for (int m = 0; m < kMatrices; ++m)
    for (int r = 0; r < 8; ++r) std::memcpy(matrices[m].at[r], rows.of[8 * m + r], kRowBytes);
  for (int m = 0; m < kMatrices; ++m) {
    std::uint32_t* to = lanes<std::uint32_t>(warp, op.dst[static_cast<std::size_t>(m)]);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      to[lane] = pair_of_lane(matrices[m], lane, is_transposed(op));
  }
  return op.pc + 1;
}

template <int kMatrices>
std::int32_t store_matrices(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
  const HostAddresses rows = rows_of<kMatrices>(warp, op, AccessKind::store);
  for (int m = 0; m < kMatrices; ++m) {
    const std::uint32_t* from = lanes<std::uint32_t>(warp, op.src[static_cast<std::size_t>(m) + 1]);
    Matrix matrix;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      set_pair(matrix, lane, is_transposed(op), from[lane]);
    for (int r = 0; r < 8; ++r) std::memcpy(rows.of[8 * m + r], matrix.at[r], kRowBytes);
  }
  return op.pc + 1;
}

std::int32_t transpose_matrix(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
  const std::uint32_t* from = lanes<std::uint32_t>(warp, op.src[0]);
  std::uint32_t* to = lanes<std::uint32_t>(warp, op.dst[0]);
  Matrix matrix;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) set_pair(matrix, lane, false, from[lane]);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) to[lane] = pair_of_lane(matrix, lane, true);
  return op.pc + 1;
}

template <int kMatrices>
Handler mover(bool stores) {
  return stores ? store_matrices<kMatrices> : load_matrices<kMatrices>;
}

std::optional<Binding> bind_transpose(const ptx::Instruction& instruction) {
  if (!instruction.has("m8n8") || !instruction.has("trans") || instruction.type() != "b16")
    return std::nullopt;
  Binding binding;
  binding.full = binding.masked = transpose_matrix;
  binding.pipe = Pipe::memory;
  binding.latency = 25;
  binding.dst[0] = binding.src[0] = Slot::b32;
  return binding;
}

// "x4": 4
int matrix_count(const ptx::Instruction& instruction) {
  if (instruction.has("x1")) return 1;
  return instruction.has("x2") ? 2 : (instruction.has("x4") ? 4 : 0);
}

}  // namespace

std::optional<Binding> bind_fragment(const ptx::Function& function,
                                     const ptx::Instruction& instruction, Watch) {
  if (instruction.opcode == "movmatrix") return bind_transpose(instruction);
  const bool stores = instruction.opcode == "stmatrix";
  if (!stores && instruction.opcode != "ldmatrix") return std::nullopt;
  const int count = matrix_count(instruction);
  const bool known = instruction.has("m8n8") && instruction.type() == "b16" && count != 0;
  if (!known || instruction.operands.size() != 2) return std::nullopt;
  Binding binding;
  binding.full = binding.masked =
      count == 1 ? mover<1>(stores) : (count == 2 ? mover<2>(stores) : mover<4>(stores));
  binding.pipe = Pipe::memory;
  binding.latency = 30;
  const bool shared = instruction.has("shared") || instruction.has("shared::cta");
  const ptx::Space space = shared ? ptx::Space::shared : ptx::Space::none;
  binding.aux =
      static_cast<std::int32_t>(space) << 8 | (instruction.has("trans") ? kTransposed : 0);
  binding.src[0] = address_slot(function, instruction.operands[stores ? 0 : 1]);
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
    (stores ? binding.src[k + 1] : binding.dst[k]) = Slot::b32;
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
