// What the harness was asked to do on its command line.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudaopt {

struct CommandLine {
  enum class Command { run, serve, version, help } command = Command::help;
  std::string request_file;                // run
  std::string nvrtc, driver;               // empty: not given
  std::optional<std::string> answer_file;  // run
  std::optional<int> result_descriptor;    // serve
};

class CommandLineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// `arguments` without the program's name.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

[[nodiscard]] const char* usage_text();

}  // namespace cudaopt
