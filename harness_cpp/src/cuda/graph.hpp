// Launches recorded once and replayed as one: no launch waits for the host.
#pragma once

#include <functional>
#include <string>

#include "cuda/context.hpp"

namespace cudaopt::cuda {

class Graph {
 public:
  // Records what `enqueue` puts on the context's stream; it must not wait or allocate. `what` names
  // it in faults.
  Graph(const Context& context, const std::string& what, const std::function<void()>& enqueue);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  void replay() const;

 private:
  const Context& m_context;
  std::string m_what;
  GraphExecHandle m_executable = nullptr;
};

}  // namespace cudaopt::cuda
