#include "sim/shadow_rule.hpp"

#include "sim/memory_form.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;

ShadowRule arithmetic_rule(Opcode opcode) {
  switch (opcode) {
    case Opcode::add:
      return ShadowRule::add;
    case Opcode::sub:
      return ShadowRule::subtract;
    case Opcode::mul:
      return ShadowRule::multiply;
    case Opcode::fma:
    case Opcode::mad:
      return ShadowRule::fused;
    case Opcode::div:
      return ShadowRule::divide;
    case Opcode::rcp:
      return ShadowRule::reciprocal;
    case Opcode::sqrt:
      return ShadowRule::square_root;
    case Opcode::rsqrt:
      return ShadowRule::reciprocal_root;
    case Opcode::sin:
      return ShadowRule::sine;
    case Opcode::cos:
      return ShadowRule::cosine;
    case Opcode::ex2:
      return ShadowRule::power_of_two;
    case Opcode::lg2:
      return ShadowRule::logarithm;
    case Opcode::tanh:
      return ShadowRule::tangent;
    case Opcode::neg:
      return ShadowRule::negate;
    case Opcode::abs:
      return ShadowRule::absolute;
    case Opcode::copysign:
      return ShadowRule::copy_sign;
    case Opcode::min:
      return ShadowRule::minimum;
    case Opcode::max:
      return ShadowRule::maximum;
    default:
      return ShadowRule::other;
  }
}

bool is_directed(Rounding rounding) {
  return rounding == Rounding::rz || rounding == Rounding::rm || rounding == Rounding::rp;
}

bool is_integral(Rounding rounding) {
  return rounding == Rounding::rni || rounding == Rounding::rzi || rounding == Rounding::rmi ||
         rounding == Rounding::rpi;
}

bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

DescribedRule began_anew() {
  DescribedRule rule;
  rule.on_purpose = true;
  return rule;
}

// Directed rounding of the functions below is not known to PTX.
bool is_function(ShadowRule rule) {
  return rule >= ShadowRule::reciprocal_root && rule <= ShadowRule::maximum;
}

DescribedRule describe_arithmetic(const Form& form, const Instruction& instruction) {
  DescribedRule rule = began_anew();
  const Numbers numbers = numbers_of(form.type());
  const ShadowRule arithmetic = arithmetic_rule(form.opcode);
  if (arithmetic == ShadowRule::other || numbers.format == Number::none ||
      numbers.format == Number::f64 || form.type_count != 1)
    return rule;
  rule.to = numbers;
  if (form.has(Modifier::xorsign) || form.has(Modifier::abs)) return rule;
  const bool of_three = instruction.operands.size() > 3 && arithmetic != ShadowRule::fused;
  if (of_three) return rule;  // min and max of three
  rule.rule = arithmetic;
  rule.from = numbers;
  rule.rounding = form.rounding;
  rule.saturate = form.has(Modifier::sat);
  rule.relu = form.has(Modifier::relu);
  rule.on_purpose = is_directed(form.rounding) && numbers.count == 1 && !is_function(arithmetic);
  return rule;
}

DescribedRule describe_conversion(const Form& form) {
  DescribedRule rule = began_anew();
  if (form.type_count != 2) return rule;
  const Numbers from = numbers_of(form.types[1]), to = numbers_of(form.types[0]);
  const bool from_float = from.format != Number::none && from.count == 1;
  rule.rounding = form.rounding;
  rule.saturate = form.has(Modifier::sat);
  rule.relu = form.has(Modifier::relu);
  if (to.format == Number::f64) return rule;
  if (from_float && from.format != Number::f64 && to.format != Number::none) {
    rule.rule = ShadowRule::convert;
    rule.on_purpose = is_directed(form.rounding) || is_integral(form.rounding);
  } else if (to.format != Number::none &&
             (is_integer(form.types[1]) || from.format == Number::f64)) {
    rule.rule = is_integral(form.rounding) ? ShadowRule::other : ShadowRule::from_integer;
    rule.integer = form.types[1];
    rule.to = to;
    return rule;
  } else if (from_float && is_integer(form.types[0])) {
    rule.rule = ShadowRule::to_integer;
    rule.integer = form.types[0];
    rule.from = from;
    return rule;
  }
  rule.from = from;
  rule.to = to;
  return rule;
}

DescribedRule describe_comparison(const Form& form) {
  DescribedRule rule;
  const Type compared = form.types[form.type_count == 2 ? 1 : 0];
  rule.from = numbers_of(compared);
  if (rule.from.format == Number::none) return rule;
  rule.rule = ShadowRule::compare;
  if (form.opcode == Opcode::set) rule.to = numbers_of(form.types[0]);
  return rule;
}

bool changes_only_the_sign(const Form& form, const Instruction& instruction) {
  if (form.type() != Type::b32 || instruction.operands.size() != 3) return false;
  const ptx::Operand& mask = instruction.operands[2];
  if (mask.kind != ptx::Operand::Kind::immediate) return false;
  const auto bits = static_cast<std::uint32_t>(mask.bits);
  return form.opcode == Opcode::and_ ? bits == 0x7fffffffu : bits == 0x80000000u;
}

// Logic on the bits of an f32, as fabsf, negation and copysignf compile to.
DescribedRule describe_logic(const Form& form, const Instruction& instruction) {
  DescribedRule rule = began_anew();
  if (form.type() == Type::pred) rule.on_purpose = false;
  if (form.opcode == Opcode::or_ && form.type() == Type::b32) {
    rule.rule = ShadowRule::sign_bits;
  } else if (changes_only_the_sign(form, instruction)) {
    rule.rule = form.opcode == Opcode::and_ ? ShadowRule::absolute : ShadowRule::negate;
  }
  return rule;
}

DescribedRule describe_atomic(const Form& form, const Instruction& instruction) {
  DescribedRule rule = began_anew();
  const Numbers numbers = numbers_of(form.type());
  rule.space = form.has(Modifier::global)   ? ptx::Space::global
               : form.has(Modifier::shared) ? ptx::Space::shared
                                            : ptx::Space::none;
  rule.element_bytes = form.type() == Type::f16 || form.type() == Type::bf16 ? 2 : 4;
  static_cast<void>(instruction);
  if (form.has(Modifier::add) && numbers.format != Number::none && numbers.format != Number::f64) {
    rule.rule = ShadowRule::atomic_add;
    rule.from = rule.to = numbers;
  } else if (form.type() == Type::b32 && (form.has(Modifier::exch) || form.has(Modifier::cas))) {
    rule.rule = ShadowRule::atomic_swap;
  }
  return rule;
}

std::optional<DescribedRule> describe_memory(const ptx::Function& function,
                                             const Instruction& instruction) {
  const bool store = instruction.opcode == "st";
  if (!store && instruction.opcode != "ld" && instruction.opcode != "ldu") return std::nullopt;
  DescribedRule rule = began_anew();
  const auto form = memory_form(function, instruction);
  if (!form || form->parameter_words) return rule;
  rule.rule =
      store ? ShadowRule::store : (form->parameter_by_name ? ShadowRule::move : ShadowRule::load);
  rule.space = form->space;
  rule.elements = form->elements;
  rule.element_bytes = form->element_bytes;
  if (instruction.type() == "f32") (store ? rule.from : rule.to) = {Number::f32, 1};
  return rule;
}

DescribedRule described(ShadowRule which) {
  DescribedRule rule;
  rule.rule = which;
  return rule;
}

DescribedRule describe_form(const Form& form, const Instruction& instruction) {
  switch (form.opcode) {
    case Opcode::mov:
      if (form.type() == Type::pred) return {};
      break;
    case Opcode::shfl:
      return described(ShadowRule::shuffle);
    case Opcode::selp:
      if (form.type() == Type::pred) return {};
      break;
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::activemask:
    case Opcode::elect:
    case Opcode::bar:
      return described(ShadowRule::across);
    case Opcode::setp:
    case Opcode::set:
      return describe_comparison(form);
    case Opcode::cvt:
      return describe_conversion(form);
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
      return describe_logic(form, instruction);
    case Opcode::atom:
    case Opcode::red:
      return describe_atomic(form, instruction);
    default:
      return describe_arithmetic(form, instruction);
  }
  DescribedRule rule =
      described(form.opcode == Opcode::mov ? ShadowRule::move : ShadowRule::select);
  const Numbers numbers = numbers_of(form.type());
  if (numbers.format != Number::f64) rule.from = rule.to = numbers;
  return rule;
}

}  // namespace

Numbers numbers_of(Type type) {
  switch (type) {
    case Type::f32:
    case Type::tf32:
      return {Number::f32, 1};
    case Type::f64:
      return {Number::f64, 1};
    case Type::f16:
      return {Number::f16, 1};
    case Type::f16x2:
      return {Number::f16, 2};
    case Type::bf16:
      return {Number::bf16, 1};
    case Type::bf16x2:
      return {Number::bf16, 2};
    case Type::f32x2:
      return {Number::f32, 2};
    default:
      return {};
  }
}

DescribedRule describe_rule(const ptx::Function& function, const Instruction& instruction) {
  if (instruction.opcode == "bra" || instruction.opcode == "ret" || instruction.opcode == "exit")
    return described(ShadowRule::branch);
  if (const auto memory = describe_memory(function, instruction)) return *memory;
  const auto form = read_form(instruction);
  if (form) return describe_form(*form, instruction);
  DescribedRule rule = began_anew();
  rule.opaque = true;
  return rule;
}

}  // namespace cudaopt::sim
