// Reads the log of the front end:
//
//   FILE(LINE): error: TEXT
//               MORE TEXT
//     SOURCE LINE
//        ^
//             detected during ...
//
// and "At end of source: error: TEXT", "nvrtc: error: TEXT".
#include "compile/diagnostics.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace cudaopt::compile {
namespace {

// The front end indents the source line it quotes, and the caret below it, by this much.
constexpr std::size_t kExcerptIndent = 2;

struct Severity {
  std::string_view written, means;
};
constexpr Severity kSeverities[] = {
    {"catastrophic error", "error"}, {"internal error", "error"}, {"error", "error"},
    {"warning", "warning"},          {"remark", "note"},          {"note", "note"}};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "FILE(LINE)" to both. The end of the source has no line; a tool's name ("nvrtc") is no place.
void read_place(const std::string& place, Diagnostic& diagnostic) {
  if (place == kEndOfSource) diagnostic.file = kEndOfSource;
  const std::size_t open = place.rfind('(');
  const bool has_line = open != std::string::npos && place.back() == ')' &&
                        open + 2 < place.size() &&
                        std::all_of(place.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                                    place.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  if (!has_line || place.size() - open > 10) return;
  diagnostic.file = place.substr(0, open);
  if (diagnostic.file.rfind("./", 0) == 0) diagnostic.file.erase(0, 2);
  diagnostic.line = std::stoi(place.substr(open + 1));
}

// "#177-D: text" to "text [#177-D]": the number is what switches a warning off.
std::string with_number_last(const std::string& text) {
  const std::size_t colon = text.find(": ");
  if (text.empty() || text[0] != '#' || colon == std::string::npos) return text;
  return text.substr(colon + 2) + " [" + text.substr(0, colon) + "]";
}

// Where a severity starts and what follows it: "PLACE: SEVERITY: TEXT", "PLACE: SEVERITY #NUMBER:
// TEXT".
struct Mark {
  std::size_t place_end, text;
  std::string_view severity;
};

// The leftmost, because a text may quote severities too.
std::optional<Mark> find_mark(const std::string& line) {
  std::optional<Mark> leftmost;
  for (const Severity& severity : kSeverities) {
    const std::string written = ": " + std::string(severity.written);
    const std::size_t at = line.find(written);
    if (at == std::string::npos || (leftmost && leftmost->place_end < at)) continue;
    const std::size_t after = at + written.size();
    if (line.compare(after, 2, ": ") == 0) leftmost = Mark{at, after + 2, severity.means};
    if (line.compare(after, 2, " #") == 0) leftmost = Mark{at, after + 1, severity.means};
  }
  return leftmost;
}

std::optional<Diagnostic> parse_header(const std::string& line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return std::nullopt;
  const auto mark = find_mark(line);
  if (!mark) return std::nullopt;
  Diagnostic diagnostic;
  diagnostic.severity = mark->severity;
  diagnostic.text = with_number_last(trimmed(line.substr(mark->text)));
  read_place(line.substr(0, mark->place_end), diagnostic);
  return diagnostic;
}

bool is_caret(const std::string& line) { return trimmed(line) == "^"; }

// Lines that say something about the log, not about the source.
bool is_bookkeeping(const std::string& line) {
  return line.rfind("Remark: The warnings can be", 0) == 0 ||
         line.rfind("Compilation terminated", 0) == 0 || line.rfind("ptxas", 0) == 0 ||
         line.find(" detected in the compilation of ") != std::string::npos;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::vector<Diagnostic> parse_diagnostics(const std::string& log) {
  std::vector<Diagnostic> diagnostics;
  bool open = false;  // continuation lines belong to the last diagnostic
  const std::vector<std::string> lines = lines_of(log);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (auto header = parse_header(lines[i])) {
      diagnostics.push_back(std::move(*header));
      open = true;
    } else if (is_bookkeeping(lines[i]) || trimmed(lines[i]).empty()) {
      open = false;
    } else if (open && i + 1 < lines.size() && is_caret(lines[i + 1])) {
      const std::size_t caret = lines[i + 1].find('^');
      diagnostics.back().column = static_cast<int>(caret - std::min(caret, kExcerptIndent)) + 1;
      ++i;
    } else if (open) {
      diagnostics.back().text += "\n" + trimmed(lines[i]);
    }
  }
  return diagnostics;
}

bool is_error(const Diagnostic& diagnostic) { return diagnostic.severity == "error"; }

std::string summary_of(const std::vector<Diagnostic>& diagnostics) {
  const auto first = std::find_if(diagnostics.begin(), diagnostics.end(), is_error);
  if (first == diagnostics.end()) return "the compiler failed without saying why";
  std::string summary;
  if (!first->file.empty()) summary = first->file + ":" + std::to_string(first->line);
  if (first->column > 0) summary += ":" + std::to_string(first->column);
  if (!summary.empty()) summary += ": ";
  summary += first->text.substr(0, first->text.find('\n'));
  const auto errors = std::count_if(diagnostics.begin(), diagnostics.end(), is_error);
  if (errors == 2) summary += " (and 1 more error)";
  if (errors > 2) summary += " (and " + std::to_string(errors - 1) + " more errors)";
  return summary;
}

}  // namespace cudaopt::compile
