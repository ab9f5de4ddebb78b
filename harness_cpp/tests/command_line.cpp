// What is accepted on the command line, and what is not.
#include "command_line.hpp"

#include "check.hpp"

using namespace cudaopt;

TEST("run takes a request, a compiler and an answer file") {
  const CommandLine line =
      parse_command_line({"run", "r.json", "--nvrtc", "/lib/nvrtc.so", "--answer", "a.json"});
  CHECK(line.command == CommandLine::Command::run);
  CHECK_EQUAL(std::string("r.json"), line.request_file);
  CHECK_EQUAL(std::string("/lib/nvrtc.so"), line.nvrtc);
  CHECK_EQUAL(std::string("a.json"), line.answer_file.value());
}

TEST("serve takes a descriptor") {
  CHECK_EQUAL(7, parse_command_line({"serve", "--result-fd", "7"}).result_descriptor.value());
}

TEST("a driver can be named for both commands that execute") {
  CHECK_EQUAL(std::string("/lib/libcuda.so.1"),
              parse_command_line({"run", "r.json", "--driver", "/lib/libcuda.so.1"}).driver);
  CHECK_EQUAL(std::string("d.so"), parse_command_line({"serve", "--driver", "d.so"}).driver);
  CHECK_EQUAL(std::string(), parse_command_line({"serve"}).driver);
}

TEST("a command line that means nothing is refused") {
  const std::vector<std::vector<std::string>> lines = {{},
                                                       {"walk"},
                                                       {"run"},
                                                       {"run", "a.json", "b.json"},
                                                       {"run", "a.json", "--result-fd", "3"},
                                                       {"run", "a.json", "--nvrtc"},
                                                       {"serve", "a.json"},
                                                       {"serve", "--result-fd", "x"},
                                                       {"serve", "--answer", "a.json"},
                                                       {"version", "--nvrtc", "x"},
                                                       {"version", "--driver", "x"},
                                                       {"serve", "--driver"}};
  for (const auto& line : lines) CHECK_THROWS(CommandLineError, parse_command_line(line));
}
