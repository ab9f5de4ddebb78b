#include "sim/matrix_form.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

struct NamedElement {
  std::string_view name;
  Element element;
};

constexpr NamedElement kElements[] = {
    {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32},
    {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2}, {"f64", Element::f64},
    {"s8", Element::s8},     {"u8", Element::u8},     {"s4", Element::s4},
    {"u4", Element::u4},     {"b1", Element::b1},     {"f32", Element::f32},
    {"s32", Element::s32},
};

std::optional<Element> element_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(kElements), std::end(kElements),
                                   [&](const NamedElement& one) { return one.name == name; });
  if (found == std::end(kElements)) return std::nullopt;
  return found->element;
}

// "m16n8k16"
std::optional<MatrixShape> shape_named(std::string_view name) {
  MatrixShape shape;
  std::size_t at = 0;
  const auto extent = [&](char letter, std::uint16_t& into) {
    if (at >= name.size() || name[at] != letter) return false;
    const std::size_t first = ++at;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at)
      into = static_cast<std::uint16_t>(into * 10 + (name[at] - '0'));
    return at > first && at <= first + 3;
  };
  if (!extent('m', shape.m) || !extent('n', shape.n) || !extent('k', shape.k)) return std::nullopt;
  if (at != name.size()) return std::nullopt;
  return shape;
}

// The modifiers of either family, taken apart.
struct Words {
  std::optional<MatrixShape> shape;
  std::vector<Element> elements;
  std::vector<bool> column_major;  // one per `row` or `col`
  std::vector<std::string_view> others;

  [[nodiscard]] bool only(std::initializer_list<std::string_view> allowed) const {
    return std::all_of(others.begin(), others.end(), [&](std::string_view word) {
      return std::find(allowed.begin(), allowed.end(), word) != allowed.end();
    });
  }
  [[nodiscard]] bool has(std::string_view word) const {
    return std::find(others.begin(), others.end(), word) != others.end();
  }
};

Words words_of(const Instruction& instruction) {
  Words words;
  for (const std::string_view modifier : instruction.modifiers) {
    if (const auto element = element_named(modifier)) {
      words.elements.push_back(*element);
    } else if (const auto shape = shape_named(modifier)) {
      words.shape = shape;
    } else if (modifier == "row" || modifier == "col") {
      words.column_major.push_back(modifier == "col");
    } else {
      words.others.push_back(modifier);
    }
  }
  return words;
}

std::uint8_t count_of(const Operand& operand) {
  const bool is_vector = operand.kind == Operand::Kind::vector;
  return is_vector ? static_cast<std::uint8_t>(std::min<std::size_t>(operand.elements.size(), 255))
                   : std::uint8_t{1};
}

enum class Family { floats, doubles, integers, bits };

Family family_of(Element element) {
  switch (element) {
    case Element::f64:
      return Family::doubles;
    case Element::s8:
    case Element::u8:
    case Element::s4:
    case Element::u4:
      return Family::integers;
    case Element::b1:
      return Family::bits;
    default:
      return Family::floats;
  }
}

bool accumulates(Element accumulator, Element operand) {
  switch (family_of(operand)) {
    case Family::floats:
      return accumulator == Element::f32 ||
             (accumulator == Element::f16 && operand != Element::bf16 && operand != Element::tf32);
    case Family::doubles:
      return accumulator == Element::f64;
    default:
      return accumulator == Element::s32;
  }
}

bool is_operand(Element element) { return element != Element::f32 && element != Element::s32; }

// "mma" writes all four types; "wmma" of f16 only those of D and C.
bool read_elements(const Words& words, MatrixForm& form) {
  if (words.elements.size() == 2) {
    form.d = words.elements[0];
    form.c = words.elements[1];
  } else if (words.elements.size() == 4) {
    form.d = words.elements[0];
    form.a = words.elements[1];
    form.b = words.elements[2];
    form.c = words.elements[3];
  } else {
    return false;
  }
  const bool may_differ = family_of(form.a) == family_of(form.b) && bits_of(form.a) <= 8;
  return is_operand(form.a) && (form.a == form.b || may_differ) &&
         bits_of(form.a) == bits_of(form.b) && accumulates(form.c, form.a) &&
         accumulates(form.d, form.a);
}

bool is_aligned(const Words& words) { return words.has("sync") && words.has("aligned"); }

// The shapes a warp can hold in 8 by 4E pieces; m8n8k4 of f16 lies differently.
bool is_regular(const MatrixForm& form) {
  const MatrixShape& shape = form.shape;
  const std::uint32_t step = 4 * elements_per_register(form.a);
  const bool whole = shape.m % 8 == 0 && shape.n % 8 == 0 && shape.k % step == 0;
  return whole && shape.m != 0 && shape.n != 0 && shape.k != 0 && shape.m <= 32 && shape.n <= 32 &&
         shape.m * shape.n <= 256 && shape.m * shape.k <= 4096 && shape.n * shape.k <= 4096;
}

// Floats of one instruction fill 256 bits of K at most; tensor_sum.hpp has room for no more.
bool has_room(const MatrixForm& form) {
  return family_of(form.a) != Family::floats || form.shape.k * bits_of(form.a) <= 256;
}

bool matches(std::uint32_t registers, std::uint32_t once, bool may_repeat) {
  return registers == once || (may_repeat && registers > once && registers % once == 0);
}

bool read_registers(const Instruction& instruction, bool is_wmma, MatrixForm& form) {
  if (instruction.operands.size() != 4) return false;
  form.d_registers = count_of(instruction.operands[0]);
  form.a_registers = count_of(instruction.operands[1]);
  form.b_registers = count_of(instruction.operands[2]);
  form.c_registers = count_of(instruction.operands[3]);
  const MatrixShape& shape = form.shape;
  return matches(form.a_registers, operand_registers(form.a, shape.m, shape.k), is_wmma) &&
         matches(form.b_registers, operand_registers(form.b, shape.n, shape.k), is_wmma) &&
         form.c_registers == accumulator_registers(form.c, shape.m, shape.n) &&
         form.d_registers == accumulator_registers(form.d, shape.m, shape.n);
}

bool read_product(const Words& words, MatrixForm& form) {
  const bool is_bits = family_of(form.a) == Family::bits;
  if (is_bits != words.has("popc")) return false;
  if (!is_bits) return !words.has("xor") && !words.has("and");
  form.product = words.has("and") ? Product::both : Product::exclusive_or;
  return words.has("and") != words.has("xor");
}

ptx::Space space_of(const Words& words) {
  if (words.has("global")) return ptx::Space::global;
  return words.has("shared") || words.has("shared::cta") ? ptx::Space::shared : ptx::Space::none;
}

bool read_role(const Words& words, TileForm& form) {
  const MatrixShape& shape = *words.shape;
  if (words.has("a")) {
    form.role = TileForm::Role::a;
    form.rows = shape.m;
    form.columns = shape.k;
  } else if (words.has("b")) {
    form.role = TileForm::Role::b;
    form.rows = shape.k;
    form.columns = shape.n;
  } else {
    form.role = TileForm::Role::accumulator;
    form.rows = shape.m;
    form.columns = shape.n;
  }
  if (form.role == TileForm::Role::accumulator) return words.has(form.stores ? "d" : "c");
  return !form.stores;
}

bool has_registers(const TileForm& form) {
  if (form.role == TileForm::Role::accumulator)
    return form.registers == accumulator_registers(form.element, form.rows, form.columns);
  const std::uint32_t step = 4 * elements_per_register(form.element);
  const bool is_a = form.role == TileForm::Role::a;
  const std::uint32_t outer = is_a ? form.rows : form.columns;
  const std::uint32_t inner = is_a ? form.columns : form.rows;
  if (outer % 8 != 0 || inner % step != 0) return false;
  // Elements of less than a byte lie along K, as their registers do.
  if (bits_of(form.element) < 8 && form.column_major == is_a) return false;
  return matches(form.registers, operand_registers(form.element, outer, inner), true);
}

}  // namespace

std::optional<MatrixForm> matrix_form(const Instruction& instruction) {
  const bool is_wmma = instruction.opcode == "wmma";
  if (!is_wmma && instruction.opcode != "mma") return std::nullopt;
  const Words words = words_of(instruction);
  MatrixForm form;
  if (!words.shape || !is_aligned(words) || words.column_major.size() != 2) return std::nullopt;
  if (is_wmma != words.has("mma")) return std::nullopt;
  if (!words.only({"mma", "sync", "aligned", "satfinite", "xor", "and", "popc", "rn"}))
    return std::nullopt;
  form.shape = *words.shape;
  if (!read_elements(words, form) || !read_product(words, form)) return std::nullopt;
  if (!is_wmma && (words.column_major[0] || !words.column_major[1])) return std::nullopt;
  if (words.has("rn") && family_of(form.a) != Family::doubles) return std::nullopt;
  form.saturates = words.has("satfinite");
  if (form.saturates && family_of(form.a) != Family::integers) return std::nullopt;
  if (!is_regular(form) || !has_room(form) || !read_registers(instruction, is_wmma, form))
    return std::nullopt;
  return form;
}

std::optional<TileForm> tile_form(const Instruction& instruction) {
  if (instruction.opcode != "wmma" || instruction.operands.size() < 2) return std::nullopt;
  const Words words = words_of(instruction);
  TileForm form;
  form.stores = words.has("store");
  if (!words.shape || !is_aligned(words) || words.elements.size() != 1) return std::nullopt;
  if (words.column_major.size() != 1 || form.stores == words.has("load")) return std::nullopt;
  if (!words.only({"load", "store", "a", "b", "c", "d", "sync", "aligned", "global", "shared",
                   "shared::cta"}))
    return std::nullopt;
  form.column_major = words.column_major[0];
  form.element = words.elements[0];
  form.space = space_of(words);
  form.has_stride = instruction.operands.size() == 3;
  form.registers = count_of(instruction.operands[form.stores ? 1 : 0]);
  const bool sane = words.shape->m <= 32 && words.shape->n <= 32 && words.shape->k <= 256;
  if (!sane || !read_role(words, form) || form.rows * form.columns == 0 || !has_registers(form))
    return std::nullopt;
  if (form.rows * form.columns * bits_of(form.element) > 8 * kMaxTileBytes) return std::nullopt;
  if (instruction.operands.size() > 3) return std::nullopt;
  return form;
}

}  // namespace cudaopt::sim
