#include "sim/fault.hpp"

#include "ptx/source_lines.hpp"
#include "sim/block.hpp"

namespace cudaopt::sim {
namespace {

std::string index_text(const Dim3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," +
         std::to_string(index.z) + ")";
}

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

std::string unsupported_text(const Program& program, const FaultDetail& detail) {
  const std::string line = line_text(detail);
  return "sim cannot execute '" + detail.instruction + "' (kernel " + program.function->name +
         (line.empty() ? "" : ", " + line) + ")";
}

}  // namespace

void add_source(const Program& program, const Op& op, FaultDetail& detail) {
  if (op.instruction < 0) return;
  add_source(program, program.function->instructions[static_cast<std::size_t>(op.instruction)],
             detail);
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

std::string unsupported_note(const Program& program, const ptx::Instruction& instruction) {
  FaultDetail detail;
  add_source(program, instruction, detail);
  return unsupported_text(program, detail);
}

std::int32_t raise_unsupported(Warp& warp, const Op& op, std::uint32_t) {
  fail_unsupported(warp, op, "");
}

void fail_unsupported(const Warp& warp, const Op& op, const std::string& why) {
  FaultDetail detail;
  detail.kind = FaultKind::unsupported_instruction;
  add_source(*warp.launch->program, op, detail);
  detail.message = unsupported_text(*warp.launch->program, detail) +
                   (why.empty() ? "" : " " + why) +
                   ". Not a fault of the kernel. Run on a GPU, or avoid the form.";
  throw Fault(std::move(detail));
}

void fail(const Warp& warp, const Op& op, int lane, FaultDetail detail) {
  add_source(*warp.launch->program, op, detail);
  detail.block = warp.block->index;
  detail.thread = thread_index(warp, lane);
  const std::string line = line_text(detail);
  detail.message += (line.empty() ? "" : ", at " + line) + ", block " + index_text(*detail.block) +
                    ", thread " + index_text(*detail.thread);
  throw Fault(std::move(detail));
}

}  // namespace cudaopt::sim
