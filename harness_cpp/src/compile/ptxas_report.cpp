// Reads lines such as
//
//   ptxas info    : Compiling entry function 'softmax' for 'sm_90'
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 14 registers, used 1 barriers, 256 bytes smem, 16 bytes cmem[2]
//   ptxas application ptx input, line 83; error   : Unknown modifier '.foo'
#include "compile/ptxas_report.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "compile/diagnostics.hpp"

namespace cudaopt::compile {
namespace {

constexpr const char* kPtxLine = "ptx input, line ";
// Only repeats that there were errors.
constexpr const char* kAborted = "Ptx assembly aborted due to errors";

// The sum of the numbers that stand before `unit` ("256 bytes smem").
std::uint32_t number_before(const std::string& line, const std::string& unit) {
  std::uint32_t sum = 0;
  for (std::size_t at = line.find(unit); at != std::string::npos; at = line.find(unit, at + 1)) {
    std::size_t digits = at;
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(line[digits - 1])) != 0) --digits;
    if (digits < at)
      sum += static_cast<std::uint32_t>(std::stoul(line.substr(digits, at - digits)));
  }
  return sum;
}

std::string quoted_after(const std::string& line, const std::string& mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t start = at + mark.size();
  return line.substr(start, line.find('\'', start) - start);
}

void read_usage(const std::string& line, Resources& resources) {
  resources.registers = number_before(line, " registers");
  resources.static_shared_bytes = number_before(line, " bytes smem");
  resources.constant_bytes = number_before(line, " bytes cmem[");
  resources.stack_bytes =
      std::max(resources.stack_bytes, number_before(line, " bytes cumulative stack size"));
}

std::string severity_of(const std::string& head) {
  for (const char* word : {"error", "fatal"}) {
    if (head.find(word) != std::string::npos) return "error";
  }
  return head.find("warning") != std::string::npos ? "warning" : "";
}

struct LineTable {
  std::map<int, std::string> files;
  int file = 0, line = 0;  // of the last .loc seen
};

void read_directive(const std::string& text, LineTable& table) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string::npos) return;
  if (text.compare(start, 5, ".loc\t") == 0 || text.compare(start, 5, ".loc ") == 0) {
    char* rest = nullptr;
    table.file = static_cast<int>(std::strtol(text.c_str() + start + 5, &rest, 10));
    table.line = static_cast<int>(std::strtol(rest, nullptr, 10));
  } else if (text.compare(start, 6, ".file\t") == 0 || text.compare(start, 6, ".file ") == 0) {
    const int number = static_cast<int>(std::strtol(text.c_str() + start + 6, nullptr, 10));
    const std::size_t open = text.find('"'), close = text.rfind('"');
    if (open < close) table.files[number] = text.substr(open + 1, close - open - 1);
  }
}

// `.file` directives may stand at the end, so the whole text is read.
SourcePoint source_of(const std::string& ptx, int ptx_line) {
  LineTable table;
  int file = 0, line = 0, current = 0;
  for (const std::string& text : lines_of(ptx)) {
    read_directive(text, table);
    if (++current == ptx_line) file = table.file, line = table.line;
  }
  const auto name = table.files.find(file);
  if (name == table.files.end()) return {};
  return {name->second, line};
}

}  // namespace

std::map<std::string, Resources> parse_resources(const std::string& log) {
  std::map<std::string, Resources> by_entry;
  Resources* current = nullptr;  // null: lines about a function that is no entry
  for (const std::string& line : lines_of(log)) {
    if (line.rfind("ptxas", 0) != 0) continue;
    const std::string entry = quoted_after(line, "Compiling entry function '");
    if (!entry.empty()) {
      current = &by_entry[entry];
    } else if (line.find("Function properties for ") != std::string::npos) {
      const std::string name = line.substr(line.find(" for ") + 5);
      const auto known = by_entry.find(name);
      current = known == by_entry.end() ? nullptr : &known->second;
    } else if (current != nullptr && line.find(" bytes stack frame") != std::string::npos) {
      current->stack_bytes = number_before(line, " bytes stack frame");
      current->spill_store_bytes = number_before(line, " bytes spill stores");
      current->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (current != nullptr && line.find(": Used ") != std::string::npos) {
      read_usage(line, *current);
    }
  }
  return by_entry;
}

std::vector<Diagnostic> parse_ptxas_messages(const std::string& log, const std::string& ptx) {
  std::vector<Diagnostic> diagnostics;
  for (const std::string& line : lines_of(log)) {
    if (line.rfind("ptxas", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string head = line.substr(0, colon);
    Diagnostic diagnostic;
    diagnostic.severity = severity_of(head);
    if (diagnostic.severity.empty() || line.find(kAborted) != std::string::npos) continue;
    diagnostic.text = "ptxas: " + line.substr(colon + 2);
    const std::size_t at = head.find(kPtxLine);
    if (at != std::string::npos) {
      const int ptx_line = std::atoi(head.c_str() + at + std::string(kPtxLine).size());
      const SourcePoint point = source_of(ptx, ptx_line);
      diagnostic.file = point.file;
      diagnostic.line = point.line;
    }
    diagnostics.push_back(std::move(diagnostic));
  }
  return diagnostics;
}

bool names_ptx_lines(const std::string& log) { return log.find(kPtxLine) != std::string::npos; }

}  // namespace cudaopt::compile
