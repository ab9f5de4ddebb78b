#include "cuda/graph.hpp"

namespace cudaopt::cuda {
namespace {

constexpr int kThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

// A capture that must end whatever happens in it: else the stream stays unusable.
class Capture {
 public:
  explicit Capture(const Context& context) : m_context(context) {
    CUDAOPT_CUDA(context.driver(), stream_begin_capture, context.stream(), kThreadLocal);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (!m_ended) m_context.driver()->stream_end_capture(m_context.stream(), &m_graph);
    if (m_graph != nullptr) m_context.driver()->graph_destroy(m_graph);
  }

  // A launch that cannot be captured may show only here.
  [[nodiscard]] GraphHandle end(const std::string& what) {
    m_ended = true;
    const Driver& driver = m_context.driver();
    driver.check(driver->stream_end_capture(m_context.stream(), &m_graph), "CUDA graph of " + what);
    return m_graph;
  }

 private:
  const Context& m_context;
  GraphHandle m_graph = nullptr;
  bool m_ended = false;
};

}  // namespace

Graph::Graph(const Context& context, const std::string& what, const std::function<void()>& enqueue)
    : m_context(context), m_what(what) {
  Capture capture(context);
  enqueue();
  const GraphHandle graph = capture.end(what);
  context.driver().check(context.driver()->graph_instantiate(&m_executable, graph, 0),
                         "CUDA graph of " + what);
}

Graph::~Graph() { m_context.driver()->graph_exec_destroy(m_executable); }

void Graph::replay() const {
  m_context.driver().check(m_context.driver()->graph_launch(m_executable, m_context.stream()),
                           "CUDA graph of " + m_what);
}

}  // namespace cudaopt::cuda
