// Three commands, four options: each option belongs to the commands that read it.
#include "command_line.hpp"

#include <algorithm>

namespace cudaopt {
namespace {

using Command = CommandLine::Command;

Command command_of(const std::string& word) {
  if (word == "run") return Command::run;
  if (word == "serve") return Command::serve;
  if (word == "version" || word == "--version") return Command::version;
  if (word == "help" || word == "--help" || word == "-h") return Command::help;
  throw CommandLineError("expected run, serve, version or help, got \"" + word + "\"");
}

int descriptor_of(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() <= 6 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) throw CommandLineError("--result-fd: expected a number, got \"" + text + "\"");
  return std::stoi(text);
}

void read_option(const std::string& option, const std::string& value, CommandLine& line) {
  const bool executes = line.command == Command::run || line.command == Command::serve;
  if (option == "--nvrtc" && executes) {
    line.nvrtc = value;
  } else if (option == "--driver" && executes) {
    line.driver = value;
  } else if (option == "--answer" && line.command == Command::run) {
    line.answer_file = value;
  } else if (option == "--result-fd" && line.command == Command::serve) {
    line.result_descriptor = descriptor_of(value);
  } else {
    throw CommandLineError("unknown option \"" + option + "\" for this command");
  }
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw CommandLineError("expected a command, got none");
  CommandLine line;
  line.command = command_of(arguments[0]);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.rfind("--", 0) == 0) {
      if (i + 1 == arguments.size()) throw CommandLineError(word + ": expected a value after it");
      read_option(word, arguments[++i], line);
    } else if (line.command == Command::run && line.request_file.empty()) {
      line.request_file = word;
    } else {
      throw CommandLineError("unexpected argument \"" + word + "\"");
    }
  }
  if (line.command == Command::run && line.request_file.empty()) {
    throw CommandLineError("run: expected a request file, got none");
  }
  return line;
}

const char* usage_text() {
  return "usage: cudaopt-harness run REQUEST.json [--nvrtc PATH] [--driver PATH] [--answer FILE]\n"
         "       cudaopt-harness serve [--nvrtc PATH] [--driver PATH] [--result-fd N]\n"
         "       cudaopt-harness version\n";
}

}  // namespace cudaopt
