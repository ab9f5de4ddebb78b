#include "sim/fault.hpp"

#include <algorithm>

#include "ptx/source_lines.hpp"
#include "sim/block.hpp"
#include "sim/frames.hpp"

namespace cudaopt::sim {
namespace {

std::string point_text(const SourcePoint& point) {
  return point.file + ":" + std::to_string(point.line);
}

// One line, single blanks.
std::string plain_text(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) plain += c;
    if (blank && !plain.empty() && plain.back() != ' ') plain += ' ';
  }
  return plain;
}

void add_source(const Program& program, const ptx::Instruction& instruction, FaultDetail& detail) {
  detail.instruction = plain_text(instruction.text);
  const ptx::SourceLines lines =
      ptx::user_lines(*program.module, instruction.location, program.user_file);
  detail.at = lines.at;
  detail.inlined_from = lines.inlined_from;
}

std::string unsupported_text(const Program& program, const std::string& instruction,
                             const std::string& line) {
  return "sim cannot execute '" + instruction + "' (kernel " + program.function->name +
         (line.empty() ? "" : ", " + line) + ")";
}

// The user's own headers are named with a leading dot.
bool is_users(const Program& program, const std::optional<SourcePoint>& at) {
  if (!at) return false;
  if (at->file == program.user_file || at->file.substr(0, 3) == "../") return true;
  const auto& files = program.module->files;
  return std::any_of(files.begin(), files.end(),
                     [&](const auto& file) { return file.second == "./" + at->file; });
}

// Where the running function was called from, innermost first, as far as anyone reads.
std::vector<FaultDetail> callers_of(const Warp& warp) {
  constexpr std::size_t kMost = 8;
  const Program& program = *warp.launch->program;
  std::vector<FaultDetail> callers;
  for (const Frame* frame = warp.frame;
       frame != nullptr && frame->caller != nullptr && callers.size() < kMost;
       frame = frame->caller) {
    FaultDetail caller;
    add_source(program, program.code[static_cast<std::size_t>(frame->call_pc)], caller);
    if (caller.at) callers.push_back(std::move(caller));
  }
  return callers;
}

}  // namespace

std::string index_text(const Dim3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

void add_source(const Program& program, const Op& op, FaultDetail& detail) {
  const ptx::Instruction* instruction = program.instruction_of(op);
  if (instruction != nullptr) add_source(program, *instruction, detail);
}

std::string line_text(const FaultDetail& detail) {
  if (!detail.at) return "";
  std::string text = point_text(*detail.at);
  for (const SourcePoint& point : detail.inlined_from)
    text += ", inlined from " + point_text(point);
  return text;
}

Dim3 thread_index(const Warp& warp, int lane) {
  const Dim3& block = warp.launch->block;
  const std::uint32_t linear = warp.index * kLanes + static_cast<std::uint32_t>(lane);
  return {linear % block.x, linear / block.x % block.y, linear / block.x / block.y};
}

std::string add_place(const Warp& warp, const Op& op, FaultDetail& detail) {
  const Program& program = *warp.launch->program;
  add_source(program, op, detail);
  const std::vector<FaultDetail> callers = callers_of(warp);
  auto next = callers.begin();
  // A library's function is named by the user's line that called it.
  const auto own = std::find_if(callers.begin(), callers.end(), [&](const FaultDetail& caller) {
    return is_users(program, caller.at);
  });
  if (!is_users(program, detail.at) && own != callers.end()) {
    detail.at = own->at;
    detail.inlined_from = own->inlined_from;
    next = own + 1;
  }
  std::string text = line_text(detail);
  for (; next != callers.end(); ++next) {
    text += ", called from " + line_text(*next);
    detail.inlined_from.push_back(*next->at);
    detail.inlined_from.insert(detail.inlined_from.end(), next->inlined_from.begin(),
                               next->inlined_from.end());
  }
  return text;
}

std::string unsupported_note(const Program& program, const ptx::Instruction& instruction) {
  FaultDetail detail;
  add_source(program, instruction, detail);
  return unsupported_text(program, detail.instruction, line_text(detail));
}

std::int32_t raise_unsupported(Warp& warp, const Op& op, std::uint32_t) {
  fail_unsupported(warp, op, "");
}

void fail_unsupported(const Warp& warp, const Op& op, const std::string& why) {
  FaultDetail detail;
  detail.kind = FaultKind::unsupported_instruction;
  const std::string line = add_place(warp, op, detail);
  detail.message = unsupported_text(*warp.launch->program, detail.instruction, line) +
                   (why.empty() ? "" : " " + why) +
                   ". Not a fault of the kernel. Run on a GPU, or avoid the form.";
  throw Fault(std::move(detail));
}

void fail(const Warp& warp, const Op& op, int lane, FaultDetail detail) {
  const std::string line = add_place(warp, op, detail);
  detail.block = warp.block->index;
  detail.thread = thread_index(warp, lane);
  detail.message += (line.empty() ? "" : ", at " + line) + ", block " + index_text(*detail.block) +
                    ", thread " + index_text(*detail.thread);
  throw Fault(std::move(detail));
}

}  // namespace cudaopt::sim
