#include "sim/memory_form.hpp"

#include <string_view>

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::RegisterClass;
using ptx::Space;

struct ElementType {
  std::uint32_t bytes;
  bool is_signed;
};

std::optional<ElementType> element_type(std::string_view type) {
  if (type.size() < 2 || std::string_view("busf").find(type[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view bits = type.substr(1);
  const bool is_signed = type[0] == 's';
  if (bits == "8") return ElementType{1, is_signed};
  if (bits == "16") return ElementType{2, is_signed};
  if (bits == "32") return ElementType{4, is_signed};
  if (bits == "64") return ElementType{8, is_signed};
  return std::nullopt;
}

// Modifiers that change neither what is accessed nor what is returned on a device without caches.
bool is_hint(std::string_view modifier) {
  static constexpr std::string_view kHints[] = {"nc",   "volatile", "relaxed", "acquire", "release",
                                                "weak", "cta",      "cluster", "gpu",     "sys",
                                                "mmio", "ca",       "cg",      "cs",      "cv",
                                                "lu",   "wb",       "wt",      "unified"};
  for (const std::string_view hint : kHints) {
    if (modifier == hint) return true;
  }
  return modifier.substr(0, 4) == "L1::" || modifier.substr(0, 4) == "L2::";
}

bool read_modifiers(const Instruction& instruction, MemoryForm& form) {
  for (std::size_t i = 0; i + 1 < instruction.modifiers.size(); ++i) {
    const std::string_view modifier = instruction.modifiers[i];
    if (modifier == "global") {
      form.space = Space::global;
    } else if (modifier == "shared" || modifier == "shared::cta" || modifier == "shared::cluster") {
      form.space = Space::shared;
    } else if (modifier == "local") {
      form.space = Space::local;
    } else if (modifier == "const") {
      form.space = Space::constant;
    } else if (modifier == "param" || modifier == "param::entry" || modifier == "param::func") {
      form.space = Space::param;
    } else if (modifier == "v2" || modifier == "v4") {
      form.elements = modifier == "v2" ? 2 : 4;
    } else if (!is_hint(modifier)) {
      return false;
    }
  }
  return true;
}

// The class of the register that receives or gives the value: the first of a vector.
std::optional<RegisterClass> value_class(const ptx::Function& function, const Operand& value) {
  if (value.kind == Operand::Kind::reg) {
    return function.registers[static_cast<std::size_t>(value.reg)].type;
  }
  for (const Operand& element : value.elements) {
    if (const auto found = value_class(function, element)) return found;
  }
  return std::nullopt;
}

std::optional<Extension> extension(ElementType element, RegisterClass to) {
  if (to == RegisterClass::b64) {
    if (element.bytes == 8) return Extension::none;
    if (!element.is_signed) return Extension::to_64;
    if (element.bytes == 1) return Extension::s8_to_64;
    return element.bytes == 2 ? Extension::s16_to_64 : Extension::s32_to_64;
  }
  if (to == RegisterClass::b32 && element.bytes <= 4) {
    if (!element.is_signed || element.bytes == 4) return Extension::none;
    return element.bytes == 1 ? Extension::s8_to_32 : Extension::s16_to_32;
  }
  if (to == RegisterClass::b16 && element.bytes <= 2) {
    return element.is_signed && element.bytes == 1 ? Extension::s8_to_16 : Extension::none;
  }
  return std::nullopt;
}

bool read_address(const ptx::Function& function, const Operand& address, bool is_load,
                  MemoryForm& form) {
  if (address.kind != Operand::Kind::address || address.elements.size() != 1) return false;
  const Operand& base = address.elements[0];
  if (base.kind == Operand::Kind::reg) {
    const RegisterClass type = function.registers[static_cast<std::size_t>(base.reg)].type;
    form.wide_address = type == RegisterClass::b64;
    return form.wide_address || type == RegisterClass::b32;
  }
  form.wide_address = form.space != Space::shared;
  if (form.space == Space::param && base.kind == Operand::Kind::symbol) {
    for (const ptx::Parameter& parameter : function.parameters) {
      form.parameter_by_name |= function.entry && is_load && parameter.name == base.name;
    }
    form.parameter_words = !form.parameter_by_name;
    return true;
  }
  return base.kind == Operand::Kind::symbol || base.kind == Operand::Kind::immediate;
}

}  // namespace

std::optional<MemoryForm> memory_form(const ptx::Function& function,
                                      const Instruction& instruction) {
  const bool is_store = instruction.opcode == "st";
  // The policy behind them, which says what to keep in the L2, is not looked at.
  const std::size_t operands = instruction.has("L2::cache_hint") ? 3 : 2;
  if (instruction.operands.size() != operands) return std::nullopt;
  const Operand& value = instruction.operands[is_store ? 1 : 0];
  const Operand& address = instruction.operands[is_store ? 0 : 1];
  const auto element = element_type(instruction.type());
  MemoryForm form;
  if (!element || !read_modifiers(instruction, form)) return std::nullopt;
  if (!read_address(function, address, !is_store, form)) return std::nullopt;
  // An entry's parameters are read; only a callee's are written.
  if (is_store && form.parameter_by_name) return std::nullopt;
  form.element_bytes = element->bytes;
  form.order = memory_order(instruction);
  const bool is_vector = value.kind == Operand::Kind::vector;
  if ((is_vector ? value.elements.size() : 1) != form.elements) return std::nullopt;
  const auto type = value_class(function, value);
  if (!type) return form;  // immediates or sinks only
  const auto extended =
      is_store ? extension({element->bytes, false}, *type) : extension(*element, *type);
  if (!extended) return std::nullopt;
  form.extension = *extended;
  return form;
}

}  // namespace cudaopt::sim
