#include "sim/shadow_plan.hpp"

#include <algorithm>

#include "sim/current_cells.hpp"
#include "sim/described_code.hpp"
#include "sim/shadow_constants.hpp"
#include "sim/shadow_dependence.hpp"
#include "sim/shadow_formats.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::RegisterClass;

constexpr std::int32_t kSlotBytes = kLanes * 4;

bool needs_a_cell(ShadowRule rule) {
  const bool arithmetic = rule >= ShadowRule::add && rule <= ShadowRule::maximum;
  return arithmetic || rule == ShadowRule::convert || rule == ShadowRule::from_integer ||
         rule == ShadowRule::sign_bits;
}

class Planner {
 public:
  explicit Planner(Program& program)
      : m_program(program),
        m_function(*program.function),
        m_described(program),
        m_formats(m_function, m_described.rules, m_described.operands),
        m_constants(m_function, m_described.operands),
        m_dependence(m_formats, m_function.registers.size(), m_described.operands) {}

  [[nodiscard]] std::shared_ptr<ShadowPlan> run() {
    if (!m_formats.any()) return nullptr;
    auto plan = std::make_shared<ShadowPlan>();
    plan->cells_per_word = m_formats.halves() ? 2 : 1;
    plan->cell_bytes = 4 / plan->cells_per_word;
    m_cells_per_word = static_cast<std::int32_t>(plan->cells_per_word);
    add_shuffle_slots();
    plan->taints = static_cast<std::uint32_t>(taint_of_predicate(0)) + m_program.predicates;
    plan->ops.resize(m_program.code.size());
    for (const Op& op : m_program.code) {
      if (is_described(m_program, op)) plan->ops[static_cast<std::size_t>(op.pc)] = plan_op(op);
    }
    mark_current_loads(m_program, m_described.rules, *plan);
    return plan;
  }

 private:
  [[nodiscard]] const Instruction& instruction_of(const Op& op) const {
    return m_function.instructions[static_cast<std::size_t>(op.instruction)];
  }

  void add_shuffle_slots() {
    const bool shuffles =
        std::any_of(m_described.rules.begin(), m_described.rules.end(),
                    [](const DescribedRule& rule) { return rule.rule == ShadowRule::shuffle; });
    if (!shuffles) return;
    m_lane_numbers = static_cast<std::int32_t>(m_program.register_bytes);
    m_scratch = m_lane_numbers + kSlotBytes;
    m_program.register_bytes += 2 * kSlotBytes;
    m_program.specials.push_back({m_lane_numbers, Slot::b32, Special::laneid});
  }

  [[nodiscard]] std::int32_t taint_of_predicate(std::int32_t index) const {
    return kFirstTaint + static_cast<std::int32_t>(m_program.register_bytes) / kSlotBytes + index;
  }

  [[nodiscard]] std::int32_t taint_of(const Operand* operand, std::int32_t slot) const {
    if (slot < 0 || !m_dependence.depends(operand)) return kNoTaint;
    const auto reg = static_cast<std::size_t>(register_of(operand));
    if (m_function.registers[reg].type == RegisterClass::predicate) return taint_of_predicate(slot);
    return kFirstTaint + slot / kSlotBytes;
  }

  [[nodiscard]] std::int32_t cells_of(const Operand* operand, std::int32_t slot,
                                      Numbers numbers) const {
    const std::int32_t reg = register_of(operand);
    if (slot < 0 || operand->kind != Operand::Kind::reg || !m_formats.has_shadow(reg)) return -1;
    return m_formats.numbers(reg) == numbers ? slot * 2 * m_cells_per_word : -1;
  }

  [[nodiscard]] Numbers numbers_among(const std::vector<const Operand*>& operands,
                                      std::size_t first) const {
    for (std::size_t k = first; k < operands.size(); ++k) {
      if (operands[k]->kind != Operand::Kind::reg) continue;
      const Numbers numbers = m_formats.numbers(register_of(operands[k]));
      if (numbers.format != Number::none) return numbers;
    }
    return {};
  }

  // What a store writes: what one of its registers holds, what its type says, or, of constants in
  // a program that knows no other format, f32.
  [[nodiscard]] Numbers stored_numbers(const DescribedRule& rule,
                                       const PlacedOperands& operands) const {
    const Numbers held = numbers_among(operands.sources, 1);
    if (held.format != Number::none) return held;
    if (rule.from.format != Number::none) return rule.from;
    const bool constants = std::all_of(operands.sources.begin() + 1, operands.sources.end(),
                                       [&](const Operand* source) {
                                         const std::int32_t reg = register_of(source);
                                         return source->kind == Operand::Kind::immediate ||
                                                (reg >= 0 && m_constants.is_constant(reg));
                                       });
    const bool f32 = constants && m_formats.only_f32() && rule.element_bytes == 4;
    return f32 ? Numbers{Number::f32, 1} : Numbers{};
  }

  // Settles what the instruction's name alone did not say. False: nothing of it concerns floats.
  [[nodiscard]] bool complete(const Op& op, const PlacedOperands& operands, ShadowOp& how) const {
    const DescribedRule& rule = m_described.rules[static_cast<std::size_t>(op.instruction)];
    const bool concerned = m_dependence.concerns(instruction_of(op), operands);
    switch (rule.rule) {
      case ShadowRule::store:
        how.from = stored_numbers(rule, operands);
        if (how.from.format == Number::none ||
            bytes_of(how.from.format) * how.from.count != rule.element_bytes)
          how.rule = concerned ? ShadowRule::branch : ShadowRule::none;  // only its guard matters
        return how.rule != ShadowRule::none;
      case ShadowRule::load:
        how.to = numbers_among(operands.results, 0);
        if (how.to.format != Number::none &&
            bytes_of(how.to.format) * how.to.count != rule.element_bytes)
          how.rule = ShadowRule::other;
        return concerned;
      case ShadowRule::atomic_swap:
        how.from = how.to = numbers_among(operands.sources, 1);
        if (how.from == Numbers{Number::f32, 1}) return true;
        how.rule = ShadowRule::other;
        return concerned;
      case ShadowRule::atomic_add:
        return true;
      case ShadowRule::move:
        complete_move(rule, operands, how);
        return concerned;
      case ShadowRule::select:
      case ShadowRule::shuffle:
        how.from = how.to = numbers_among(operands.results, 0);
        if (how.from.count > 2) how.rule = ShadowRule::other;
        return concerned;
      default:
        if (how.to.format == Number::none) how.to = numbers_among(operands.results, 0);
        if (how.from.format == Number::none) how.from = how.to;
        if (m_constants.rounds_by_addition(rule, operands)) how.on_purpose = true;
        return concerned;
    }
  }

  void complete_move(const DescribedRule& rule, const PlacedOperands& operands,
                     ShadowOp& how) const {
    const bool parameter =
        operands.sources.size() == 1 && operands.sources[0]->kind == Operand::Kind::address;
    how.to = numbers_among(operands.results, 0);
    how.from = how.to;
    how.elements = parameter ? rule.elements : static_cast<std::uint32_t>(operands.sources.size());
    const auto parts =
        static_cast<std::uint8_t>(std::max(operands.sources.size(), operands.results.size()));
    if (!parameter && operands.sources.size() > 1) how.from.count = 1;
    if (!parameter && operands.results.size() > 1) how.from.count = parts;
    if (how.to.format == Number::none || how.from.count * how.elements > 4)
      how.rule = ShadowRule::other;
  }

  [[nodiscard]] ShadowOp plan_op(const Op& op) const {
    const auto index = static_cast<std::size_t>(op.instruction);
    const DescribedRule& rule = m_described.rules[index];
    const PlacedOperands& operands = m_described.operands[index];
    ShadowOp how;
    how.rule = rule.rule;
    how.from = rule.from;
    how.to = rule.to;
    how.rounding = rule.rounding;
    how.saturate = rule.saturate;
    how.relu = rule.relu;
    how.on_purpose = rule.on_purpose;
    how.integer = rule.integer;
    how.space = rule.space;
    how.elements = rule.elements;
    how.element_bytes = rule.element_bytes;
    how.narrow_address = op.address == Slot::b32;
    how.lane_numbers = m_lane_numbers;
    how.scratch = m_scratch;
    if (!complete(op, operands, how)) return {};
    place_operands(op, operands, how);
    const bool loose = needs_a_cell(how.rule) && how.dst_cells[0] < 0;
    const bool two_numbers =
        how.rule == ShadowRule::sign_bits && (how.src_cells[0] >= 0) == (how.src_cells[1] >= 0);
    if (loose || two_numbers) {
      how.rule = ShadowRule::other;
      how.on_purpose = true;
    }
    return how;
  }

  void place_operands(const Op& op, const PlacedOperands& operands, ShadowOp& how) const {
    for (std::size_t k = 0; k < std::min(operands.results.size(), op.dst.size()); ++k) {
      how.dst_cells[k] = cells_of(operands.results[k], op.dst[k], how.to);
      how.dst_taints[k] = taint_of(operands.results[k], op.dst[k]);
    }
    if (how.dst_taints[0] == kNoTaint) how.dst_taints[0] = kTaintSink;
    for (std::size_t k = 0; k < std::min(operands.sources.size(), op.src.size()); ++k) {
      how.src_cells[k] = cells_of(operands.sources[k], op.src[k], how.from);
      how.src_taints[k] = taint_of(operands.sources[k], op.src[k]);
    }
    const std::int32_t guard = instruction_of(op).guard;
    if (guard >= 0 && m_dependence.depends(guard)) how.guard_taint = taint_of_predicate(op.guard);
  }

  Program& m_program;
  const ptx::Function& m_function;
  DescribedCode m_described;
  ShadowFormats m_formats;
  ShadowConstants m_constants;
  ShadowDependence m_dependence;
  std::int32_t m_cells_per_word = 1, m_lane_numbers = -1, m_scratch = -1;
};

}  // namespace

void add_shadow(Program& program, BindShadow bind) {
  const std::shared_ptr<ShadowPlan> plan = Planner(program).run();
  if (plan == nullptr) return;
  for (Op& op : program.code) {
    ShadowOp& how = plan->ops[static_cast<std::size_t>(op.pc)];
    const Handler handler = how.rule == ShadowRule::none ? nullptr : bind(how);
    if (handler == nullptr) continue;
    how.value_full = op.full;
    how.value_masked = op.masked;
    op.full = op.masked = handler;
  }
  program.shadow = plan;
}

}  // namespace cudaopt::sim
