// Where answers go: one private descriptor, so that nothing else the process prints can reach it.
#pragma once

#include <string>

namespace cudaopt::protocol {

class ResultChannel {
 public:
  // Takes ownership of `descriptor`.
  explicit ResultChannel(int descriptor);
  ResultChannel(const ResultChannel&) = delete;
  ResultChannel& operator=(const ResultChannel&) = delete;
  ~ResultChannel();

  // A copy of standard output; standard output itself goes to standard error from here on.
  [[nodiscard]] static int take_standard_output();
  [[nodiscard]] static int create_file(const std::string& path);

  // Writes the line and a newline whole. Throws std::system_error if nobody can read it.
  void write_line(const std::string& line) const;

 private:
  int m_descriptor;
};

}  // namespace cudaopt::protocol
