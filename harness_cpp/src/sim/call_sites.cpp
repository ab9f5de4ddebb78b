#include "sim/call_sites.hpp"

#include <algorithm>

#include "sim/call_graph.hpp"
#include "sim/calls.hpp"
#include "sim/provided_functions.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Operand;

std::vector<ParameterWords> signature_of(const std::vector<ptx::Parameter>& parameters) {
  std::vector<ParameterWords> words;
  for (const ptx::Parameter& parameter : parameters) words.push_back({-1, parameter.bytes});
  return words;
}

bool same_words(const std::vector<ParameterWords>& a, const std::vector<ParameterWords>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.words() == y.words(); });
}

// What CUDA gives a thread.
constexpr std::uint32_t kMostLocalBytes = 512 * 1024;

}  // namespace

bool can_be_called(const Routine& routine) {
  const auto fits = [](const ParameterWords& words) { return words.bytes <= kMostParameterBytes; };
  return routine.local_bytes <= kMostLocalBytes &&
         std::all_of(routine.arguments.begin(), routine.arguments.end(), fits) &&
         std::all_of(routine.results.begin(), routine.results.end(), fits);
}

void set_signature(const ptx::Function& function, Routine& routine) {
  routine.arguments = signature_of(function.parameters);
  routine.results = signature_of(function.results);
}

std::optional<CallSites::Words> CallSites::words_of(const Operand& list) const {
  Words words;
  for (const Operand& element : list.elements) {
    const ParameterWords* place =
        element.kind == Operand::Kind::symbol ? m_places.find(element.name) : nullptr;
    if (place == nullptr) return std::nullopt;
    words.push_back(*place);
  }
  return words;
}

bool CallSites::assign_direct(const ptx::Function& function, CallSite& site) const {
  for (std::size_t i = 0; i < m_program.routines.size(); ++i) {
    const Routine& routine = m_program.routines[i];
    if (routine.function != &function) continue;
    site.routine = static_cast<std::int32_t>(i);
    return same_words(site.arguments, routine.arguments) &&
           same_words(site.results, routine.results) && can_be_called(routine);
  }
  return false;
}

bool CallSites::assign_provided(std::string_view name, CallSite&& site, Op& op) {
  const ProvidedFunction* provided = provided_function(name);
  if (provided == nullptr || site.arguments.size() != provided->arguments) return false;
  op.full = op.masked = provided->handler;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) op.src[i] = site.arguments[i].offset;
  op.dst[0] = site.results.empty() ? m_slots.sink(Slot::b32) : site.results[0].offset;
  return true;
}

bool CallSites::assign(const ptx::Instruction& call, Op& op) {
  if (call.operands.size() < 3) return false;
  auto results = words_of(call.operands[0]);
  auto arguments = words_of(call.operands[2]);
  if (!results || !arguments) return false;
  CallSite site{m_caller, -1, std::move(*arguments), std::move(*results)};
  op.pipe = Pipe::control;
  const std::string_view name = called_name(call);
  if (name.empty()) {
    const Operand& pointer = call.operands[1];
    const auto slot = pointer.kind == Operand::Kind::reg
                          ? m_slots.register_slot(pointer.reg, Slot::b64)
                          : std::nullopt;
    if (!slot) return false;
    op.src[0] = *slot;
    op.full = op.masked = call_through_pointer;
  } else if (const ptx::Function* function = m_program.module->find(name)) {
    if (!assign_direct(*function, site)) return false;
    op.full = op.masked = call_function;
  } else {
    return assign_provided(name, std::move(site), op);
  }
  op.aux = static_cast<std::int32_t>(m_program.calls.size());
  m_program.calls.push_back(std::move(site));
  return true;
}

}  // namespace cudaopt::sim
