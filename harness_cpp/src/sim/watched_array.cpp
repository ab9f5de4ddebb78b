#include "sim/watched_array.hpp"

#include <algorithm>

namespace cudaopt::sim {

void UnwrittenReads::add(const Read& read) {
  if (m_reads.size() >= kMost) return;
  if (m_at.emplace(read.offset, m_reads.size()).second) m_reads.push_back(read);
}

const UnwrittenReads::Read* UnwrittenReads::find(std::uint64_t offset) const {
  if (m_at.empty()) return nullptr;
  const auto found = m_at.find(offset);
  return found == m_at.end() ? nullptr : &m_reads[found->second];
}

void UnwrittenReads::forget(std::uint64_t offset) {
  const auto found = m_at.find(offset);
  if (found == m_at.end()) return;
  m_reads[found->second].stamp = 0;
  m_at.erase(found);
}

std::vector<UnwrittenReads::Read> UnwrittenReads::take() {
  m_reads.erase(std::remove_if(m_reads.begin(), m_reads.end(),
                               [](const Read& read) { return read.stamp == 0; }),
                m_reads.end());
  std::vector<Read> taken;
  for (const Read& read : m_reads) {
    const bool goes_on = !taken.empty() && taken.back().stamp == read.stamp &&
                         read.offset > taken.back().offset &&
                         read.offset - taken.back().offset < read.bytes;
    if (!goes_on) taken.push_back(read);
  }
  m_reads.clear();
  m_at.clear();
  return taken;
}

// Mangled names of a function's variables end in <length><name>, "_0" behind it if there are more.
std::string plain_variable_name(const std::string& mangled) {
  if (mangled.compare(0, 2, "_Z") != 0) return mangled;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string text = mangled;
  std::size_t end = text.size();
  while (end > 0 && is_digit(text[end - 1])) --end;
  if (end < text.size() && end > 0 && text[end - 1] == '_') text.resize(end - 1);
  for (std::size_t at = text.size() - 1; at > 1; --at) {
    if (!is_digit(text[at]) || is_digit(text[at - 1])) continue;
    std::size_t length = 0, name = at;
    while (name < text.size() && is_digit(text[name]) && length < text.size())
      length = 10 * length + static_cast<std::size_t>(text[name++] - '0');
    if (name + length == text.size()) return text.substr(name);
  }
  return mangled;
}

std::size_t variable_at(const Program& program, std::uint64_t offset) {
  const std::vector<NamedRange>& variables = program.shared_variables;
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (offset >= variables[i].offset && offset < variables[i].offset + variables[i].bytes)
      return i;
  return variables.size();
}

namespace {

// All names of dynamic shared memory mean the same place: the first one the module declares.
std::string dynamic_name(const Program& program) {
  std::vector<const std::vector<ptx::Variable>*> scopes{&program.function->variables,
                                                        &program.module->variables};
  for (const Routine& routine : program.routines) scopes.push_back(&routine.function->variables);
  for (const auto* variables : scopes)
    for (const ptx::Variable& variable : *variables)
      if (variable.space == ptx::Space::shared && variable.external)
        return plain_variable_name(variable.name);
  return "shared memory";
}

ArrayPlace shared_place(const Program& program, std::uint64_t offset, std::uint32_t bytes) {
  ArrayPlace place;
  place.space = "shared";
  const std::size_t variable = variable_at(program, offset);
  std::uint64_t start = program.dynamic_shared_offset;
  if (variable < program.shared_variables.size()) {
    const NamedRange& range = program.shared_variables[variable];
    place.name = plain_variable_name(range.name);
    place.elements = range.bytes / bytes;
    start = range.offset;
  } else {
    place.name = dynamic_name(program);
  }
  place.element = static_cast<std::int64_t>(offset - start) / bytes;
  return place;
}

}  // namespace

ArrayPlace place_of(const Program& program, const WatchedArray& array, std::uint64_t offset,
                    std::uint32_t bytes) {
  if (array.allocation == nullptr) return shared_place(program, offset, bytes);
  const Allocation& allocation = *array.allocation;
  ArrayPlace place;
  place.name = plain_variable_name(allocation.name);
  const std::uint64_t at = array.origin + offset - allocation.base;
  // A module's variable says nothing of its elements.
  const std::uint32_t element = allocation.element_bytes > 1 ? allocation.element_bytes : bytes;
  place.element = static_cast<std::int64_t>(at / element);
  place.elements = allocation.bytes / element;
  return place;
}

}  // namespace cudaopt::sim
