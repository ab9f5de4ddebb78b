// POSIX descriptors behind the result channel.
#include "protocol/result_channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cudaopt::protocol {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

ResultChannel::ResultChannel(int descriptor) : m_descriptor(descriptor) {
  // Also refuses a --result-fd that nobody opened, before the first request.
  if (fcntl(m_descriptor, F_SETFD, FD_CLOEXEC) == -1) {
    fail("the result descriptor " + std::to_string(descriptor) +
         " cannot be used; pass one that the parent opened for writing");
  }
}

ResultChannel::~ResultChannel() { close(m_descriptor); }

int ResultChannel::take_standard_output() {
  const int copy = dup(STDOUT_FILENO);
  if (copy == -1) fail("standard output cannot be used for answers; give --answer or --result-fd");
  if (dup2(STDERR_FILENO, STDOUT_FILENO) == -1) fail("standard output cannot be redirected");
  return copy;
}

int ResultChannel::create_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (descriptor == -1) fail("the answer file \"" + path + "\" cannot be created");
  return descriptor;
}

void ResultChannel::write_line(const std::string& line) const {
  const std::string whole = line + "\n";
  std::size_t written = 0;
  while (written < whole.size()) {
    const ssize_t count = write(m_descriptor, whole.data() + written, whole.size() - written);
    if (count == -1 && errno == EINTR) continue;
    if (count == -1) fail("the answer cannot be written");
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace cudaopt::protocol
