// The answer of one request while it grows. The watchdog reads it from another thread, so that a
// timeout still reports the steps that finished.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "protocol/answer.hpp"

namespace cudaopt::steps {

class Progress {
 public:
  void identify(std::string id, std::string nonce) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_answer.id = std::move(id);
    m_answer.nonce = std::move(nonce);
  }
  void set_device(std::string description) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_answer.device = std::move(description);
  }
  void begin_step(std::size_t index) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_step = index;
  }
  void finish_step(protocol::StepAnswer answer) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_answer.steps.push_back(std::move(answer));
  }
  [[nodiscard]] protocol::Answer answer() const {
    const std::lock_guard<std::mutex> lock(m_mutex);
    return m_answer;
  }
  // The answer if `fault` happened now.
  [[nodiscard]] protocol::Answer with_fault(FaultDetail fault) const {
    const std::lock_guard<std::mutex> lock(m_mutex);
    protocol::Answer answer = m_answer;
    answer.fault = protocol::FaultAnswer{m_step, std::move(fault)};
    return answer;
  }

 private:
  mutable std::mutex m_mutex;
  protocol::Answer m_answer;
  std::optional<std::size_t> m_step;
};

}  // namespace cudaopt::steps
