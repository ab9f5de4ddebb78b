#include "sim/check_findings.hpp"

#include <algorithm>

#include "sim/fault.hpp"
#include "sim/finding_text.hpp"
#include "sim/speculated_loads.hpp"

namespace cudaopt::sim {
namespace {

constexpr std::size_t kNotKept = ~std::size_t{0};

std::string points_key(const std::optional<SourcePoint>& at,
                       const std::vector<SourcePoint>& inlined_from) {
  std::string key = at ? at->file + ":" + std::to_string(at->line) : "?";
  for (const SourcePoint& point : inlined_from)
    key += "<" + point.file + ":" + std::to_string(point.line);
  return key;
}

// Without line information the instruction stands for its line.
std::string lines_key(const Finding& finding) {
  const FaultDetail& what = finding.what;
  std::string key = std::string(name_of(what.kind)) + "|" + what.buffer + "|" + what.space + "|" +
                    points_key(what.at, what.inlined_from) + "|" +
                    (what.at ? "" : what.instruction) + "|" + what.access;
  if (finding.other)
    key += "|" + points_key(finding.other->at, finding.other->inlined_from) + "|" +
           finding.other->access;
  return key;
}

const char* advice(Missing missing) {
  switch (missing) {
    case Missing::block_barrier:
      return "no __syncthreads() orders the two";
    case Missing::warp_barrier:
      return "they are lanes of one warp, and no __syncwarp() orders them";
    case Missing::grid_order:
      return "nothing orders blocks within a launch but atomics with fences";
    case Missing::copy_wait:
      return "nobody has waited for the copy (cp.async.wait_group)";
    case Missing::one_value:
      break;
  }
  return "with another value, in the same instruction";
}

}  // namespace

const Op* CheckFindings::op_at(std::int32_t pc) const {
  const std::vector<Op>& code = m_launch.program->code;
  const bool known = pc != stamp::kUnknownPc && static_cast<std::size_t>(pc) < code.size();
  return known ? &code[static_cast<std::size_t>(pc)] : nullptr;
}

Dim3 CheckFindings::block_index(std::uint64_t linear) const {
  const Dim3& grid = m_launch.grid;
  return {static_cast<std::uint32_t>(linear % grid.x),
          static_cast<std::uint32_t>(linear / grid.x % grid.y),
          static_cast<std::uint32_t>(linear / grid.x / grid.y)};
}

Dim3 CheckFindings::thread_of(const Party& party) const {
  const Dim3& block = m_launch.block;
  const std::uint32_t linear = party.warp * kLanes + party.lane;
  return {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

std::uint64_t CheckFindings::array_key(const WatchedArray* array, std::uint64_t offset) const {
  if (array == nullptr) return ~std::uint64_t{0};
  if (array->allocation == nullptr) return variable_at(*m_launch.program, offset);
  return array->allocation->base;
}

FaultDetail CheckFindings::detail_of(const Party& at, const ArrayPlace& place,
                                     std::uint32_t bytes) const {
  FaultDetail detail;
  if (const Op* op = op_at(at.pc); op != nullptr) add_source(*m_launch.program, *op, detail);
  detail.buffer = place.name;
  detail.element = place.element;
  if (place.elements != 0) detail.elements = place.elements;
  detail.bytes = bytes;
  detail.space = place.space;
  detail.block = block_index(at.block);
  detail.thread = thread_of(at);
  return detail;
}

OtherParty CheckFindings::other_of(const Party& other, bool reads) const {
  FaultDetail source;
  if (const Op* op = op_at(other.pc); op != nullptr) add_source(*m_launch.program, *op, source);
  OtherParty party;
  party.access = access_name(source.instruction, reads);
  party.at = source.at;
  party.inlined_from = source.inlined_from;
  party.block = block_index(other.block);
  party.thread = thread_of(other);
  return party;
}

bool CheckFindings::is_speculated(std::int32_t pc) {
  const auto known = m_speculated.find(pc);
  if (known != m_speculated.end()) return known->second;
  const Op* op = op_at(pc);
  if (op == nullptr || op->instruction < 0) return m_speculated[pc] = false;
  const ptx::Function& function = m_launch.program->function_at(pc);
  const auto& instruction = function.instructions[static_cast<std::size_t>(op->instruction)];
  return m_speculated[pc] = may_be_speculated(function, instruction);
}

// Seen before, or one too many.
bool CheckFindings::counted(const Key& key) {
  const auto found = m_at.find(key);
  if (found == m_at.end()) return false;
  if (found->second != kNotKept) ++m_findings[found->second].times;
  return true;
}

void CheckFindings::add(const Key& key, Finding finding) {
  const auto [place, is_new] = m_by_lines.emplace(lines_key(finding), m_findings.size());
  if (!is_new) {
    if (place->second != kNotKept) ++m_findings[place->second].times;
    m_at[key] = place->second;
    return;
  }
  if (m_findings.size() >= kMost) {
    m_at[key] = place->second = kNotKept;
    return;
  }
  m_at[key] = m_findings.size();
  m_findings.push_back(std::move(finding));
}

void CheckFindings::add_race(const Collision& collision) {
  const FaultKind kind =
      collision.missing == Missing::copy_wait ? FaultKind::unfinished_copy : FaultKind::race;
  const Key key{kind, array_key(collision.array, collision.offset), collision.at.pc,
                collision.other.pc};
  if (collision.reads && is_speculated(collision.at.pc)) return;
  const auto found = m_at.find(key);
  const bool known = found != m_at.end() && found->second != kNotKept;
  // Where a barrier of the block is missing, one between lanes would not do.
  const bool wider = known && m_missing.at(found->second) < collision.missing;
  if (counted(key) && !wider) return;
  Finding finding = race_of(collision, kind);
  if (wider) {
    finding.times = m_findings[found->second].times;
    m_findings[found->second] = std::move(finding);
    m_missing[found->second] = collision.missing;
    return;
  }
  add(key, std::move(finding));
  m_missing.emplace(m_at.at(key), collision.missing);
}

Finding CheckFindings::race_of(const Collision& collision, FaultKind kind) const {
  const ArrayPlace place =
      place_of(*m_launch.program, *collision.array, collision.offset, collision.bytes);
  Finding finding;
  finding.what = detail_of(collision.at, place, collision.bytes);
  finding.other = other_of(collision.other, collision.other_reads);
  FaultDetail& what = finding.what;
  const OtherParty& other = *finding.other;
  what.kind = kind;
  what.access = access_name(what.instruction, collision.reads);
  const bool far = collision.missing == Missing::grid_order;
  what.message = "kernel '" + m_launch.program->function->name + "' " + verb(what.access) + " " +
                 place_text(place) + " at " + line_text(what) + ", block " +
                 index_text(*what.block) + ", thread " + index_text(*what.thread) +
                 ", which thread " + index_text(*other.thread) + " of " +
                 (far ? "block " + index_text(*other.block) : std::string("that block")) + " " +
                 verb(other.access) + line_of(other) + "; " + advice(collision.missing);
  return finding;
}

void CheckFindings::add_passed(const Collision& collision, std::int32_t barrier_pc) {
  const Key key{FaultKind::barrier_divergence, array_key(collision.array, collision.offset),
                barrier_pc, collision.at.pc};
  if (is_speculated(collision.at.pc) || counted(key)) return;
  const ArrayPlace place =
      place_of(*m_launch.program, *collision.array, collision.offset, collision.bytes);
  const OtherParty reader = other_of(collision.at, true);
  Finding finding;
  FaultDetail& what = finding.what;
  if (const Op* op = op_at(barrier_pc); op != nullptr) add_source(*m_launch.program, *op, what);
  what.kind = FaultKind::barrier_divergence;
  what.block = block_index(collision.at.block);
  what.thread = thread_of(collision.at);
  what.message = "kernel '" + m_launch.program->function->name + "': thread " +
                 index_text(thread_of(collision.other)) +
                 " went past a barrier that others wait at, at " + line_text(what) +
                 ", and ended; thread " + index_text(*what.thread) + " then reads " +
                 place_text(place) + line_of(reader) + ", which that thread wrote" +
                 line_of(other_of(collision.other, false)) +
                 "; every thread of the block must execute the same barrier";
  add(key, std::move(finding));
}

void CheckFindings::add_unwritten(const WatchedArray* array, std::uint64_t offset,
                                  std::uint32_t bytes, const Party& at) {
  const Key key{FaultKind::uninitialized_read, array_key(array, offset), at.pc, -1};
  if (is_speculated(at.pc) || counted(key)) return;
  add(key, unwritten_of(array, offset, bytes, at));
}

Finding CheckFindings::unwritten_of(const WatchedArray* array, std::uint64_t offset,
                                    std::uint32_t bytes, const Party& at) const {
  ArrayPlace place;
  if (array != nullptr) {
    place = place_of(*m_launch.program, *array, offset, bytes);
  } else {
    place.name = "local memory";
    place.space = "local";
    place.element = static_cast<std::int64_t>(offset / bytes);
  }
  Finding finding;
  FaultDetail& what = finding.what;
  what = detail_of(at, place, bytes);
  what.kind = FaultKind::uninitialized_read;
  what.access = access_name(what.instruction, true);
  what.message = "kernel '" + m_launch.program->function->name + "' " + verb(what.access) + " " +
                 place_text(place) + " of " + place.space +
                 " memory, which nobody has written, at " + line_text(what) + ", block " +
                 index_text(*what.block) + ", thread " + index_text(*what.thread);
  return finding;
}

void CheckFindings::add_undefined(const UndefinedOrigin& origin, const Party& use) {
  const FaultKind kind = origin.unwritten ? FaultKind::uninitialized_read : FaultKind::absent_lane;
  const Key key{kind, array_key(nullptr, 0), origin.at.pc, -1};
  if (counted(key)) return;
  add(key, origin.unwritten ? unwritten_of(nullptr, origin.offset, origin.bytes, origin.at)
                            : from_nowhere(origin, use));
}

Finding CheckFindings::from_nowhere(const UndefinedOrigin& origin, const Party& use) const {
  Finding finding;
  FaultDetail& what = finding.what;
  if (const Op* op = op_at(origin.at.pc); op != nullptr) add_source(*m_launch.program, *op, what);
  what.kind = FaultKind::absent_lane;
  what.block = block_index(origin.at.block);
  what.thread = thread_of(origin.at);
  what.message = "kernel '" + m_launch.program->function->name + "': lane " +
                 std::to_string(origin.at.lane) + " gets an undefined value from lane " +
                 std::to_string(origin.other_lane) +
                 ", which has ended or is not named, by the shuffle at " + line_text(what) +
                 ", block " + index_text(*what.block) + ", thread " + index_text(*what.thread) +
                 ", and something depends on it" + line_of(other_of(use, false)) +
                 "; let every lane take part, or do not use what comes from absent ones";
  return finding;
}

std::vector<Finding> CheckFindings::sorted() const {
  std::vector<Finding> findings = m_findings;
  const auto place = [](const Finding& finding) {
    const std::optional<SourcePoint>& at = finding.what.at;
    return std::tuple(at ? at->file : "", at ? at->line : 0);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
  return findings;
}

}  // namespace cudaopt::sim
