// wmma.load and wmma.store: a tile of a matrix in memory, and the registers of a warp that hold it.
#include <algorithm>
#include <cstdint>

#include "sim/matrix_form.hpp"
#include "sim/ops.hpp"
#include "sim/scattered_access.hpp"
#include "sim/watch_rows.hpp"
#include "sim/whole_warp.hpp"
#include "sim/wide_operands.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// The tile's bytes, one row (or column) after the other without gaps.
struct Tile {
  alignas(16) std::uint8_t bytes[kMaxTileBytes];
};

// How the tile lies in memory: lines that are contiguous, `stride` bytes apart. The manual wants
// lines to begin at multiples of 16 bytes, so pieces of that size are aligned in all correct code.
struct Lines {
  std::uint64_t address = 0;
  std::uint64_t stride_bytes = 0;
  std::uint32_t count = 0, bytes = 0, piece_bytes = 0;

  [[nodiscard]] std::uint32_t pieces_per_line() const { return bytes / piece_bytes; }
  [[nodiscard]] std::uint32_t pieces() const { return count * pieces_per_line(); }
  [[nodiscard]] std::uint64_t address_of(std::uint32_t piece) const {
    const std::uint32_t per_line = pieces_per_line();
    return address + piece / per_line * stride_bytes + piece % per_line * piece_bytes;
  }
};

Lines lines_of(Warp& warp, const WideOperands& wide, const TileForm& form) {
  const std::uint32_t address = form.stores ? 0u : form.registers;
  const std::uint32_t length = form.column_major ? form.rows : form.columns;
  const std::uint32_t stride =
      form.has_stride ? lanes_of<std::uint32_t>(warp, wide.operands.back())[0] : length;
  Lines lines;
  lines.address = address_of(warp, wide.operands[address], 0);
  lines.stride_bytes = std::uint64_t{stride} * bits_of(form.element) / 8;
  lines.count = form.column_major ? form.columns : form.rows;
  lines.bytes = length * bits_of(form.element) / 8;
  lines.piece_bytes = std::min(lines.bytes, 16u);
  return lines;
}

// Calls `move(host, offset in the tile)` for every piece. A fault names the lane that would make
// the access if each lane took one piece in turn.
template <class Move>
void for_each_piece(Warp& warp, const Op& op, const TileForm& form, const Lines& lines,
                    const Move& move) {
  const AccessKind kind = form.stores ? AccessKind::store : AccessKind::load;
  for (std::uint32_t first = 0; first < lines.pieces(); first += kLanes) {
    const std::uint32_t count = std::min<std::uint32_t>(kLanes, lines.pieces() - first);
    Addresses addresses{};
    for (std::uint32_t i = 0; i < count; ++i) addresses.of[i] = lines.address_of(first + i);
    const std::uint32_t mask = kAllLanes >> (kLanes - count);
    const HostAddresses host =
        resolve_lanes(warp, op, form.space, addresses, mask, lines.piece_bytes, kind);
    watch_rows(warp, op, form.space, addresses, mask, lines.piece_bytes, kind);
    for (std::uint32_t i = 0; i < count; ++i) move(host.of[i], (first + i) * lines.piece_bytes);
  }
}

// Where in the tile an element lies, in elements.
CUDAOPT_INLINE std::uint32_t place_of(const TileForm& form, std::uint32_t row,
                                      std::uint32_t column) {
  return form.column_major ? column * form.rows + row : row * form.columns + column;
}

// A register of several elements, or a part of a wide one: `count` elements `step` places apart.
std::uint64_t word_at(const Tile& tile, std::uint32_t place, std::uint32_t step,
                      std::uint32_t count, std::uint32_t bits) {
  std::uint64_t word = 0;
  if (step == 1) {  // contiguous, and the only way for elements of less than a byte
    std::memcpy(&word, tile.bytes + place * bits / 8, count * bits / 8);
    return word;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t element = 0;
    std::memcpy(&element, tile.bytes + (place + i * step) * bits / 8, bits / 8);
    word |= element << (i * bits);
  }
  return word;
}

void write_lane(Warp& warp, const WideOperand& operand, std::uint32_t lane, std::uint64_t word) {
  if (operand.width == Slot::b64) {
    lanes_of<std::uint64_t>(warp, operand)[lane] = word;
  } else {
    lanes_of<std::uint32_t>(warp, operand)[lane] = static_cast<std::uint32_t>(word);
  }
}

void fill_operand(Warp& warp, const WideOperand* to, const TileForm& form, const Tile& tile) {
  const bool is_a = form.role == TileForm::Role::a;
  const std::uint32_t outer = is_a ? form.rows : form.columns;
  const std::uint32_t inner = is_a ? form.columns : form.rows;
  const std::uint32_t each = elements_per_register(form.element), bits = bits_of(form.element);
  const std::uint32_t once = operand_registers(form.element, outer, inner), blocks = outer / 8;
  const std::uint32_t step = is_a ? place_of(form, 0, 1) : place_of(form, 1, 0);
  for (std::uint32_t r = 0; r < form.registers; ++r) {
    const std::uint32_t piece = r % once;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t o = piece % blocks * 8 + lane / 4;
      const std::uint32_t i = piece / blocks * 4 * each + lane % 4 * each;
      const std::uint32_t place = is_a ? place_of(form, o, i) : place_of(form, i, o);
      write_lane(warp, to[r], lane, word_at(tile, place, step, each, bits));
    }
  }
}

// Row and column of an accumulator's element: register r of the lane, the k-th in it.
struct Cell {
  std::uint32_t row, column;
};

CUDAOPT_INLINE Cell accumulator_cell(const TileForm& form, std::uint32_t block,
                                     std::uint32_t lane) {
  const std::uint32_t rows = form.rows / 8u;
  return {block % rows * 8 + lane / 4, block / rows * 8 + lane % 4 * 2};
}

void fill_accumulator(Warp& warp, const WideOperand* to, const TileForm& form, const Tile& tile) {
  const std::uint32_t bits = bits_of(form.element), step = place_of(form, 0, 1);
  for (std::uint32_t block = 0; block < form.rows * form.columns / 64u; ++block) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const Cell cell = accumulator_cell(form, block, lane);
      const std::uint32_t place = place_of(form, cell.row, cell.column);
      if (form.element == Element::f16) {
        write_lane(warp, to[block], lane, word_at(tile, place, step, 2, bits));
        continue;
      }
      write_lane(warp, to[2 * block], lane, word_at(tile, place, 1, 1, bits));
      write_lane(warp, to[2 * block + 1], lane, word_at(tile, place + step, 1, 1, bits));
    }
  }
}

std::uint64_t read_lane(Warp& warp, const WideOperand& operand, std::uint32_t lane) {
  return operand.width == Slot::b64 ? lanes_of<std::uint64_t>(warp, operand)[lane]
                                    : lanes_of<std::uint32_t>(warp, operand)[lane];
}

void spread_accumulator(Warp& warp, const WideOperand* from, const TileForm& form, Tile& tile) {
  const std::uint32_t bytes = bits_of(form.element) / 8, step = place_of(form, 0, 1);
  for (std::uint32_t block = 0; block < form.rows * form.columns / 64u; ++block) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const Cell cell = accumulator_cell(form, block, lane);
      std::uint8_t* first = tile.bytes + place_of(form, cell.row, cell.column) * bytes;
      std::uint64_t low = 0, high = 0;
      if (form.element == Element::f16) {
        low = read_lane(warp, from[block], lane);
        high = low >> 16;
      } else {
        low = read_lane(warp, from[2 * block], lane);
        high = read_lane(warp, from[2 * block + 1], lane);
      }
      std::memcpy(first, &low, bytes);
      std::memcpy(first + std::size_t{step} * bytes, &high, bytes);
    }
  }
}

std::int32_t load_tile(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<TileForm>(wide);
  const Lines lines = lines_of(warp, wide, form);
  Tile tile;
  for_each_piece(warp, op, form, lines, [&](const std::uint8_t* host, std::uint32_t offset) {
    std::memcpy(tile.bytes + offset, host, lines.piece_bytes);
  });
  if (form.role == TileForm::Role::accumulator) {
    fill_accumulator(warp, wide.operands.data(), form, tile);
  } else {
    fill_operand(warp, wide.operands.data(), form, tile);
  }
  return op.pc + 1;
}

std::int32_t store_tile(Warp& warp, const Op& op, std::uint32_t mask) {
  if (mask != kAllLanes) return wait_for_whole_warp(warp, op, mask);
  const WideOperands& wide = wide_operands(warp, op);
  const auto form = form_of<TileForm>(wide);
  const Lines lines = lines_of(warp, wide, form);
  Tile tile;
  spread_accumulator(warp, wide.operands.data() + 1, form, tile);
  for_each_piece(warp, op, form, lines, [&](std::uint8_t* host, std::uint32_t offset) {
    std::memcpy(host, tile.bytes + offset, lines.piece_bytes);
  });
  return op.pc + 1;
}

}  // namespace

std::optional<Binding> bind_tile(const ptx::Function& function, const ptx::Instruction& instruction,
                                 Watch) {
  const auto form = tile_form(instruction);
  if (!form) return std::nullopt;
  Binding binding;
  binding.full = binding.masked = form->stores ? store_tile : load_tile;
  binding.pipe = Pipe::memory;
  binding.latency = 40;
  binding.form = bytes_of(*form);
  const Slot value = form->element == Element::f64 ? Slot::b64 : Slot::b32;
  const Slot address = address_slot(function, instruction.operands[form->stores ? 0 : 1]);
  binding.wide.assign(form->registers, value);
  binding.wide.insert(form->stores ? binding.wide.begin() : binding.wide.end(), address);
  if (form->has_stride) binding.wide.push_back(Slot::b32);
  binding.wide_results = form->stores ? 0 : form->registers;
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA
