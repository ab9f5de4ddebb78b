// cudaopt-harness: one request (`run`) or a line of requests after another (`serve`). Every failure
// below this file is an exception, and becomes an answer here.
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>

#include "command_line.hpp"
#include "compile/nvrtc.hpp"
#include "device.hpp"
#include "protocol/answer.hpp"
#include "protocol/document.hpp"
#include "protocol/request.hpp"
#include "protocol/result_channel.hpp"
#include "steps/devices.hpp"
#include "steps/executor.hpp"
#include "steps/files.hpp"
#include "steps/progress.hpp"
#include "steps/watchdog.hpp"

namespace cudaopt {
namespace {

constexpr int kExitOk = 0, kExitFault = 1, kExitInvalid = 2, kExitEnding = 4;

struct Service {
  const protocol::ResultChannel& channel;
  std::string nvrtc;
  compile::NvrtcLibraries libraries;
  steps::Devices devices;
};

FaultDetail timeout_detail(double timeout_s) {
  FaultDetail detail;
  detail.kind = FaultKind::timeout;
  std::ostringstream message;
  message << "the request did not finish within its " << timeout_s
          << " s (request.timeout_s): a kernel without end, or too much work for this limit.";
  detail.message = message.str();
  detail.ends_process = true;
  return detail;
}

// The request's device is gone before its answer is written: its memory is free again, and what
// hangs while it is freed is the watchdog's.
void execute(const std::string& text, const std::string& directory, Service& service,
             steps::Progress& progress) {
  const protocol::Document document(text, "request");
  progress.identify(document.text_if_any("id"), document.text_if_any("nonce"));
  const protocol::Request request = protocol::parse_request(document, directory);
  const double timeout_s = request.timeout_s;
  steps::Watchdog watchdog(std::chrono::duration<double>(timeout_s), [&, timeout_s] {
    service.channel.write_line(text_of(progress.with_fault(timeout_detail(timeout_s))));
  });
  steps::Executor(request, service.libraries, service.nvrtc, service.devices, progress).run();
}

FaultDetail detail_of(FaultKind kind, const std::string& message) {
  FaultDetail detail;
  detail.kind = kind;
  detail.message = message;
  return detail;
}

protocol::Answer answer_to(const std::string& text, const std::string& directory,
                           Service& service) {
  steps::Progress progress;
  try {
    execute(text, directory, service, progress);
    return progress.answer();
  } catch (const Fault& fault) {
    return progress.with_fault(fault.detail());
  } catch (const std::bad_alloc&) {
    return progress.with_fault(
        detail_of(FaultKind::out_of_memory, "this host has not enough memory for the request."));
  } catch (const std::exception& error) {
    return progress.with_fault(detail_of(
        FaultKind::launch_error, std::string("internal error of the harness: ") + error.what() +
                                     ". Please report it with the request."));
  }
}

int exit_code_of(protocol::Status status) {
  switch (status) {
    case protocol::Status::ok:
      return kExitOk;
    case protocol::Status::fault:
      return kExitFault;
    case protocol::Status::invalid:
      return kExitInvalid;
  }
  return kExitInvalid;
}

int run(const CommandLine& line) {
  const std::string text = steps::Files("").read_text(line.request_file, "request");
  const protocol::ResultChannel channel(
      line.answer_file ? protocol::ResultChannel::create_file(*line.answer_file)
                       : protocol::ResultChannel::take_standard_output());
  Service service{channel, line.nvrtc, {}, steps::Devices(line.driver)};
  const auto directory = std::filesystem::absolute(line.request_file).parent_path().string();
  const protocol::Answer answer = answer_to(text, directory, service);
  channel.write_line(text_of(answer));
  return exit_code_of(answer.status());
}

int serve(const CommandLine& line) {
  const protocol::ResultChannel channel(line.result_descriptor
                                            ? *line.result_descriptor
                                            : protocol::ResultChannel::take_standard_output());
  Service service{channel, line.nvrtc, {}, steps::Devices(line.driver)};
  const std::string directory = std::filesystem::current_path().string();
  channel.write_line(protocol::version_text());
  std::string text;
  while (std::getline(std::cin, text)) {
    if (text.empty()) continue;
    const protocol::Answer answer = answer_to(text, directory, service);
    channel.write_line(text_of(answer));
    if (answer.ending()) return kExitEnding;
  }
  return kExitOk;
}

int execute_command(const CommandLine& line) {
  switch (line.command) {
    case CommandLine::Command::run:
      return run(line);
    case CommandLine::Command::serve:
      return serve(line);
    case CommandLine::Command::version:
      std::cout << protocol::version_text() << "\n";
      return kExitOk;
    case CommandLine::Command::help:
      std::cout << usage_text();
      return kExitOk;
  }
  return kExitInvalid;
}

}  // namespace
}  // namespace cudaopt

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  // Where there is a driver, NVRTC takes what it compiled before from the driver's cache, and then
  // says nothing of registers and spills (13.0). The package keeps its own.
  setenv("CUDA_CACHE_DISABLE", "1", 1);
#ifdef __GLIBC__
  // The memory of one request's arrays serves the next one's: mapping it anew, page by page, takes
  // longer than reading the files.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
  // A parent that is gone shows as a failed write, with a message.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return cudaopt::execute_command(
        cudaopt::parse_command_line(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const cudaopt::CommandLineError& error) {
    std::cerr << "cudaopt-harness: " << error.what() << ".\n" << cudaopt::usage_text();
  } catch (const std::exception& error) {
    std::cerr << "cudaopt-harness: " << error.what() << "\n";
  }
  return cudaopt::kExitInvalid;
}
