#include "sim/form.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace cudaopt::sim {
namespace {

template <class T>
using Names = std::unordered_map<std::string_view, T>;

const Names<Opcode>& opcodes() {
  static const Names<Opcode> names = {
      {"activemask", Opcode::activemask},
      {"abs", Opcode::abs},
      {"add", Opcode::add},
      {"addc", Opcode::addc},
      {"and", Opcode::and_},
      {"atom", Opcode::atom},
      {"bar", Opcode::bar},
      {"bfe", Opcode::bfe},
      {"bfi", Opcode::bfi},
      {"bfind", Opcode::bfind},
      {"bmsk", Opcode::bmsk},
      {"brev", Opcode::brev},
      {"clz", Opcode::clz},
      {"cnot", Opcode::cnot},
      {"copysign", Opcode::copysign},
      {"cos", Opcode::cos},
      {"cvt", Opcode::cvt},
      {"div", Opcode::div},
      {"dp2a", Opcode::dp2a},
      {"dp4a", Opcode::dp4a},
      {"elect", Opcode::elect},
      {"ex2", Opcode::ex2},
      {"fence", Opcode::fence},
      {"fma", Opcode::fma},
      {"fns", Opcode::fns},
      {"lg2", Opcode::lg2},
      {"lop3", Opcode::lop3},
      {"mad", Opcode::mad},
      {"mad24", Opcode::mad24},
      {"madc", Opcode::madc},
      {"match", Opcode::match},
      {"max", Opcode::max},
      {"membar", Opcode::membar},
      {"min", Opcode::min},
      {"mov", Opcode::mov},
      {"mul", Opcode::mul},
      {"mul24", Opcode::mul24},
      {"neg", Opcode::neg},
      {"not", Opcode::not_},
      {"or", Opcode::or_},
      {"popc", Opcode::popc},
      {"prmt", Opcode::prmt},
      {"rcp", Opcode::rcp},
      {"red", Opcode::red},
      {"redux", Opcode::redux},
      {"rem", Opcode::rem},
      {"rsqrt", Opcode::rsqrt},
      {"sad", Opcode::sad},
      {"selp", Opcode::selp},
      {"set", Opcode::set},
      {"setp", Opcode::setp},
      {"shf", Opcode::shf},
      {"shfl", Opcode::shfl},
      {"shl", Opcode::shl},
      {"shr", Opcode::shr},
      {"sin", Opcode::sin},
      {"slct", Opcode::slct},
      {"sqrt", Opcode::sqrt},
      {"sub", Opcode::sub},
      {"subc", Opcode::subc},
      {"szext", Opcode::szext},
      {"tanh", Opcode::tanh},
      {"testp", Opcode::testp},
      {"vabsdiff2", Opcode::vabsdiff2},
      {"vabsdiff4", Opcode::vabsdiff4},
      {"vadd2", Opcode::vadd2},
      {"vadd4", Opcode::vadd4},
      {"vavrg2", Opcode::vavrg2},
      {"vavrg4", Opcode::vavrg4},
      {"vmax2", Opcode::vmax2},
      {"vmax4", Opcode::vmax4},
      {"vmin2", Opcode::vmin2},
      {"vmin4", Opcode::vmin4},
      {"vote", Opcode::vote},
      {"vset2", Opcode::vset2},
      {"vset4", Opcode::vset4},
      {"vsub2", Opcode::vsub2},
      {"vsub4", Opcode::vsub4},
      {"xor", Opcode::xor_},
  };
  return names;
}

const Names<Type>& types() {
  static const Names<Type> names = {
      {"pred", Type::pred},     {"b8", Type::b8},       {"b16", Type::b16},
      {"b32", Type::b32},       {"b64", Type::b64},     {"u8", Type::u8},
      {"u16", Type::u16},       {"u32", Type::u32},     {"u64", Type::u64},
      {"s8", Type::s8},         {"s16", Type::s16},     {"s32", Type::s32},
      {"s64", Type::s64},       {"u16x2", Type::u16x2}, {"s16x2", Type::s16x2},
      {"f16", Type::f16},       {"f16x2", Type::f16x2}, {"bf16", Type::bf16},
      {"bf16x2", Type::bf16x2}, {"tf32", Type::tf32},   {"f32", Type::f32},
      {"f32x2", Type::f32x2},   {"f64", Type::f64},     {"e4m3x2", Type::e4m3x2},
      {"e5m2x2", Type::e5m2x2},
  };
  return names;
}

const Names<Rounding>& roundings() {
  static const Names<Rounding> names = {
      {"rn", Rounding::rn},   {"rz", Rounding::rz},   {"rm", Rounding::rm},
      {"rp", Rounding::rp},   {"rna", Rounding::rna}, {"rni", Rounding::rni},
      {"rzi", Rounding::rzi}, {"rmi", Rounding::rmi}, {"rpi", Rounding::rpi},
  };
  return names;
}

const Names<Modifier>& modifiers() {
  static const Names<Modifier> names = {
      {"ftz", Modifier::ftz},
      {"noftz", Modifier::noftz},
      {"sat", Modifier::sat},
      {"satfinite", Modifier::satfinite},
      {"relu", Modifier::relu},
      {"approx", Modifier::approx},
      {"full", Modifier::full},
      {"NaN", Modifier::nan_result},
      {"xorsign", Modifier::xorsign},
      {"abs", Modifier::abs},
      {"lo", Modifier::lo},
      {"hi", Modifier::hi},
      {"wide", Modifier::wide},
      {"cc", Modifier::cc},
      {"wrap", Modifier::wrap},
      {"clamp", Modifier::clamp},
      {"l", Modifier::left},
      {"r", Modifier::right},
      {"shiftamt", Modifier::shiftamt},
      {"pack", Modifier::pack},
      {"eq", Modifier::eq},
      {"ne", Modifier::ne},
      {"lt", Modifier::lt},
      {"le", Modifier::le},
      {"gt", Modifier::gt},
      {"ge", Modifier::ge},
      {"ls", Modifier::ls},
      {"hs", Modifier::hs},
      {"equ", Modifier::equ},
      {"neu", Modifier::neu},
      {"ltu", Modifier::ltu},
      {"leu", Modifier::leu},
      {"gtu", Modifier::gtu},
      {"geu", Modifier::geu},
      {"num", Modifier::num},
      {"nan", Modifier::nan},
      {"and", Modifier::and_},
      {"or", Modifier::or_},
      {"xor", Modifier::xor_},
      {"add", Modifier::add},
      {"inc", Modifier::inc},
      {"dec", Modifier::dec},
      {"exch", Modifier::exch},
      {"cas", Modifier::cas},
      {"min", Modifier::min},
      {"max", Modifier::max},
      {"sync", Modifier::sync},
      {"warp", Modifier::warp},
      {"up", Modifier::up},
      {"down", Modifier::down},
      {"bfly", Modifier::bfly},
      {"idx", Modifier::idx},
      {"all", Modifier::all},
      {"any", Modifier::any},
      {"uni", Modifier::uni},
      {"ballot", Modifier::ballot},
      {"f4e", Modifier::f4e},
      {"b4e", Modifier::b4e},
      {"rc8", Modifier::rc8},
      {"ecl", Modifier::ecl},
      {"ecr", Modifier::ecr},
      {"rc16", Modifier::rc16},
      {"finite", Modifier::finite},
      {"infinite", Modifier::infinite},
      {"number", Modifier::number},
      {"notanumber", Modifier::notanumber},
      {"normal", Modifier::normal},
      {"subnormal", Modifier::subnormal},
      {"v2", Modifier::v2},
      {"v4", Modifier::v4},
      {"global", Modifier::global},
      {"shared", Modifier::shared},
      {"shared::cta", Modifier::shared},
      {"shared::cluster", Modifier::shared},
      {"cta", Modifier::cta},
      {"cluster", Modifier::cluster},
      {"gpu", Modifier::gpu},
      {"sys", Modifier::system},
      {"gl", Modifier::gl},
      {"relaxed", Modifier::relaxed},
      {"acquire", Modifier::acquire},
      {"release", Modifier::release},
      {"acq_rel", Modifier::acq_rel},
      {"sc", Modifier::sc},
  };
  return names;
}

template <class T>
std::optional<T> look_up(const Names<T>& names, std::string_view name) {
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

bool take(Form& form, std::string_view name) {
  if (const auto type = look_up(types(), name)) {
    if (form.type_count == form.types.size()) return false;
    form.types[form.type_count++] = *type;
    return true;
  }
  if (const auto rounding = look_up(roundings(), name)) {
    if (form.rounding != Rounding::none) return false;
    form.rounding = *rounding;
    return true;
  }
  const auto modifier = look_up(modifiers(), name);
  if (!modifier || form.modifier_count == form.modifiers.size()) return false;
  form.modifiers[form.modifier_count++] = *modifier;
  return true;
}

}  // namespace

bool Form::has(Modifier modifier) const {
  const auto* end = modifiers.begin() + modifier_count;
  return std::find(modifiers.begin(), end, modifier) != end;
}

bool Form::only(std::initializer_list<Modifier> allowed) const {
  return std::all_of(modifiers.begin(), modifiers.begin() + modifier_count, [&](Modifier written) {
    return std::find(allowed.begin(), allowed.end(), written) != allowed.end();
  });
}

std::optional<Form> read_form(const ptx::Instruction& instruction) {
  const auto opcode = look_up(opcodes(), instruction.opcode);
  if (!opcode) return std::nullopt;
  Form form;
  form.opcode = *opcode;
  for (const std::string_view name : instruction.modifiers)
    if (!take(form, name)) return std::nullopt;
  return form;
}

bool is_wide_register(const ptx::Function& function, const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::reg &&
         function.registers[static_cast<std::size_t>(operand.reg)].type == ptx::RegisterClass::b64;
}

}  // namespace cudaopt::sim
