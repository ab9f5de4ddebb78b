#include "sim/shadow_plan.hpp"

#include <algorithm>

#include "ptx/control_flow.hpp"
#include "ptx/flat_operands.hpp"
#include "sim/fault.hpp"
#include "sim/shadow_formats.hpp"
#include "sim/shadow_rule.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::RegisterClass;

constexpr std::int32_t kSlotBytes = kLanes * 4;

PlacedOperands place(const Instruction& instruction) {
  const std::vector<std::int32_t> written = ptx::written_operands(instruction);
  PlacedOperands placed;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const bool result =
        std::find(written.begin(), written.end(), static_cast<std::int32_t>(i)) != written.end();
    flatten(instruction.operands[i], result ? placed.results : placed.sources);
  }
  return placed;
}

bool needs_a_cell(ShadowRule rule) {
  const bool arithmetic = rule >= ShadowRule::add && rule <= ShadowRule::maximum;
  return arithmetic || rule == ShadowRule::convert || rule == ShadowRule::from_integer ||
         rule == ShadowRule::sign_bits;
}

// 1.5 * 2^23 and 2^23, and the few numbers above them that code adds to round to an integer.
bool is_magic(std::uint32_t bits) {
  const std::uint32_t size = bits & 0x7fffffffu;
  return (size >= 0x4b400000u && size < 0x4b400100u) || (size >= 0x4b000000u && size < 0x4b000100u);
}

class Planner {
 public:
  explicit Planner(Program& program)
      : m_program(program),
        m_function(*program.function),
        m_rules(describe_all(program)),
        m_operands(place_all(program)),
        m_formats(m_function, m_rules, m_operands),
        m_depends(m_function.registers.size(), false) {
    find_constants();
    find_dependent();
  }

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
      // Functions that are called have registers of their own, without a shadow: it begins anew
      // from what they return.
      const bool called = &m_program.function_at(op.pc) != &m_function;
      if (op.instruction >= 0 && op.full != raise_unsupported && !called)
        plan->ops[static_cast<std::size_t>(op.pc)] = plan_op(op);
    }
    mark_current_loads(*plan);
    return plan;
  }

 private:
  // What cannot be executed has no rule: its operands may not be those its name promises.
  static std::vector<DescribedRule> describe_all(const Program& program) {
    const std::vector<Instruction>& instructions = program.function->instructions;
    std::vector<DescribedRule> rules(instructions.size());
    for (const std::size_t i : executable(program))
      rules[i] = describe_rule(*program.function, instructions[i]);
    return rules;
  }

  static std::vector<PlacedOperands> place_all(const Program& program) {
    const std::vector<Instruction>& instructions = program.function->instructions;
    std::vector<PlacedOperands> operands(instructions.size());
    for (const std::size_t i : executable(program)) operands[i] = place(instructions[i]);
    return operands;
  }

  // Indices of the kernel's own instructions.
  static std::vector<std::size_t> executable(const Program& program) {
    std::vector<std::size_t> indices;
    for (const Op& op : program.code) {
      const bool own = &program.function_at(op.pc) == program.function;
      if (op.instruction >= 0 && op.full != raise_unsupported && own)
        indices.push_back(static_cast<std::size_t>(op.instruction));
    }
    return indices;
  }

  // Where nothing but stores of f32 writes shared memory, its cells are those of the bits there.
  void mark_current_loads(ShadowPlan& plan) const {
    if (m_formats.halves() || !m_program.routines.empty()) return;
    for (const Op& op : m_program.code) {
      if (op.instruction >= 0 && !keeps_shared_cells(op, plan)) return;
    }
    for (ShadowOp& how : plan.ops) {
      const bool all = std::all_of(how.dst_cells.begin(), how.dst_cells.begin() + how.elements,
                                   [](std::int32_t cells) { return cells >= 0; });
      how.cells_are_current = how.rule == ShadowRule::load && how.space == ptx::Space::shared &&
                              how.narrow_address && all && how.to == Numbers{Number::f32, 1};
    }
  }

  [[nodiscard]] bool keeps_shared_cells(const Op& op, const ShadowPlan& plan) const {
    const Instruction& instruction =
        m_function.instructions[static_cast<std::size_t>(op.instruction)];
    const std::string_view opcode = instruction.opcode;
    const bool elsewhere = instruction.has("global") || instruction.has("local");
    if (opcode == "st")
      return elsewhere || plan.ops[static_cast<std::size_t>(op.pc)].rule == ShadowRule::store;
    if (opcode == "atom" || opcode == "red") return elsewhere;
    // What has no rule may write to memory, but for these.
    static constexpr std::string_view kHarmless[] = {"cvta", "mma", "ldmatrix", "movmatrix"};
    return !m_rules[static_cast<std::size_t>(op.instruction)].opaque ||
           std::find(std::begin(kHarmless), std::end(kHarmless), opcode) != std::end(kHarmless);
  }

  // Registers that one mov of an immediate defines.
  void find_constants() {
    m_constants.resize(m_function.registers.size());
    std::vector<int> writes(m_function.registers.size(), 0);
    for (std::size_t i = 0; i < m_operands.size(); ++i) {
      for (const Operand* result : m_operands[i].results) {
        const std::int32_t reg = register_of(result);
        if (reg < 0) continue;
        const auto index = static_cast<std::size_t>(reg);
        const std::vector<const Operand*>& sources = m_operands[i].sources;
        const bool constant = m_function.instructions[i].opcode == "mov" && sources.size() == 1 &&
                              sources[0]->kind == Operand::Kind::immediate;
        m_constants[index] = constant && writes[index] == 0
                                 ? std::optional(static_cast<std::uint32_t>(sources[0]->bits))
                                 : std::nullopt;
        ++writes[index];
      }
    }
  }

  [[nodiscard]] bool is_magic_operand(const Operand& operand) const {
    if (operand.kind == Operand::Kind::immediate)
      return is_magic(static_cast<std::uint32_t>(operand.bits));
    const std::int32_t reg = register_of(&operand);
    return reg >= 0 && m_constants[static_cast<std::size_t>(reg)] &&
           is_magic(*m_constants[static_cast<std::size_t>(reg)]);
  }

  // The 2^23 trick: an addend so large that the sum has no fraction.
  [[nodiscard]] bool rounds_by_addition(const DescribedRule& rule,
                                        const PlacedOperands& operands) const {
    if (!(rule.from == Numbers{Number::f32, 1})) return false;
    const auto& sources = operands.sources;
    if (rule.rule == ShadowRule::fused) return is_magic_operand(*sources[2]);
    const bool sum = rule.rule == ShadowRule::add || rule.rule == ShadowRule::subtract;
    return sum && (is_magic_operand(*sources[0]) || is_magic_operand(*sources[1]));
  }

  [[nodiscard]] bool depends(const Operand* operand) const {
    const std::int32_t reg = register_of(operand);
    return reg >= 0 && m_depends[static_cast<std::size_t>(reg)];
  }

  // Registers whose value comes from a float's shadow or from what one decided.
  void find_dependent() {
    for (std::size_t reg = 0; reg < m_depends.size(); ++reg)
      m_depends[reg] = m_formats.has_shadow(static_cast<std::int32_t>(reg));
    bool changed = true;
    while (changed) {
      changed = false;
      for (const PlacedOperands& each : m_operands) {
        const bool dependent = std::any_of(each.sources.begin(), each.sources.end(),
                                           [&](const Operand* source) { return depends(source); });
        if (!dependent) continue;
        for (const Operand* result : each.results) {
          const std::int32_t reg = register_of(result);
          if (reg < 0 || m_depends[static_cast<std::size_t>(reg)]) continue;
          m_depends[static_cast<std::size_t>(reg)] = changed = true;
        }
      }
    }
  }

  void add_shuffle_slots() {
    const bool shuffles =
        std::any_of(m_rules.begin(), m_rules.end(),
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
    if (slot < 0 || !depends(operand)) return kNoTaint;
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

  [[nodiscard]] bool any_depends(const Op& op, const PlacedOperands& operands) const {
    const Instruction& instruction =
        m_function.instructions[static_cast<std::size_t>(op.instruction)];
    const auto dependent = [&](const Operand* operand) { return depends(operand); };
    if (instruction.guard >= 0 && m_depends[static_cast<std::size_t>(instruction.guard)])
      return true;
    return std::any_of(operands.results.begin(), operands.results.end(), dependent) ||
           std::any_of(operands.sources.begin(), operands.sources.end(), dependent);
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
    const bool constants = std::all_of(
        operands.sources.begin() + 1, operands.sources.end(), [&](const Operand* source) {
          const std::int32_t reg = register_of(source);
          return source->kind == Operand::Kind::immediate ||
                 (reg >= 0 && m_constants[static_cast<std::size_t>(reg)]);
        });
    const bool f32 = constants && m_formats.only_f32() && rule.element_bytes == 4;
    return f32 ? Numbers{Number::f32, 1} : Numbers{};
  }

  // Settles what the instruction's name alone did not say. False: nothing of it concerns floats.
  [[nodiscard]] bool complete(const Op& op, const PlacedOperands& operands, ShadowOp& how) const {
    const DescribedRule& rule = m_rules[static_cast<std::size_t>(op.instruction)];
    const bool concerned = any_depends(op, operands);
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
        if (rounds_by_addition(rule, operands)) how.on_purpose = true;
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
    const DescribedRule& rule = m_rules[index];
    const PlacedOperands& operands = m_operands[index];
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
    const std::int32_t guard =
        m_function.instructions[static_cast<std::size_t>(op.instruction)].guard;
    if (guard >= 0 && m_depends[static_cast<std::size_t>(guard)])
      how.guard_taint = taint_of_predicate(op.guard);
  }

  Program& m_program;
  const ptx::Function& m_function;
  std::vector<DescribedRule> m_rules;
  std::vector<PlacedOperands> m_operands;
  ShadowFormats m_formats;
  std::vector<bool> m_depends;                            // by register
  std::vector<std::optional<std::uint32_t>> m_constants;  // by register
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
