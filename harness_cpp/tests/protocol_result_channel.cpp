// Answers and everything else that is printed go separate ways.
#include <unistd.h>

#include <system_error>
#include <utility>

#include "check.hpp"
#include "protocol/result_channel.hpp"

using cudaopt::protocol::ResultChannel;

namespace {

// Replaces a descriptor of the process by a pipe and puts it back.
class Captured {
 public:
  explicit Captured(int descriptor) : m_descriptor(descriptor), m_saved(dup(descriptor)) {
    int ends[2];
    CHECK_EQUAL(0, pipe(ends));
    m_reading = ends[0];
    dup2(ends[1], descriptor);
    close(ends[1]);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() { restore(); }

  // What was written so far. Other copies of the descriptor must be closed by now.
  [[nodiscard]] std::string content() {
    restore();
    std::string text(4096, '\0');
    const ssize_t count = read(m_reading, text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    close(m_reading);
    return text;
  }

 private:
  void restore() {
    if (m_saved == -1) return;
    dup2(m_saved, m_descriptor);
    close(std::exchange(m_saved, -1));
  }

  int m_descriptor, m_saved, m_reading = -1;
};

void print(const std::string& text) {
  CHECK_EQUAL(static_cast<ssize_t>(text.size()), write(STDOUT_FILENO, text.data(), text.size()));
}

}  // namespace

TEST("what is printed after standard output was taken goes to standard error") {
  Captured output(STDOUT_FILENO), error(STDERR_FILENO);
  {
    const ResultChannel channel(ResultChannel::take_standard_output());
    print("noise");
    channel.write_line("answer");
  }
  const std::string printed = error.content(), answered = output.content();
  CHECK_EQUAL(std::string("noise"), printed);
  CHECK_EQUAL(std::string("answer\n"), answered);
}

TEST("a descriptor nobody opened is refused before anything is answered") {
  CHECK_THROWS(std::system_error, ResultChannel(9999));
}

TEST("an answer file in a folder that is not there is refused by name") {
  CHECK_THROWS(std::system_error, ResultChannel::create_file("/nowhere/answer.json"));
}
