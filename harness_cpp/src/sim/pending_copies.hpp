// Which bytes of shared memory a cp.async may still be writing. The data itself is copied at once;
// this is for checks, and empty in launches without them.
#pragma once

#include <cstdint>
#include <vector>

namespace cudaopt::sim {

class PendingCopies {
 public:
  struct Copy {
    std::uint32_t group = 0;   // of its thread, counted from 1; 0: nothing was copied here
    std::uint32_t thread = 0;  // linear, in the block
    std::int32_t pc = -1;
  };

  // A new block: forgets everything.
  void clear() {
    m_words.clear();
    m_threads.clear();
  }

  // `address` and `bytes` are multiples of 4, within `shared_bytes`.
  void start(std::uint32_t shared_bytes, std::uint32_t address, std::uint32_t bytes,
             std::uint32_t thread, std::int32_t pc) {
    if (m_words.empty()) m_words.resize((shared_bytes + 3) / 4);
    const Copy copy{state_of(thread).open, thread, pc};
    for (std::uint32_t at = address / 4; at < (address + bytes) / 4; ++at) m_words[at] = copy;
  }

  // cp.async.commit_group
  void commit(std::uint32_t thread) { ++state_of(thread).open; }

  // cp.async.wait_group: all but the thread's last `pending` groups are there.
  void wait(std::uint32_t thread, std::uint32_t pending) {
    Groups& groups = state_of(thread);
    if (groups.open > pending && groups.open - pending > groups.arrived)
      groups.arrived = groups.open - pending;
  }

  // cp.async.wait_all, and cp.async.mbarrier.arrive: from there on the mbarrier vouches for the
  // copies. A read that waits for neither is then not seen here.
  void finish(std::uint32_t thread) {
    Groups& groups = state_of(thread);
    groups.arrived = ++groups.open;
  }

  // The first copy that may still be writing one of the bytes; nullptr: none.
  [[nodiscard]] const Copy* find(std::uint32_t address, std::uint32_t bytes) const {
    if (m_words.empty()) return nullptr;
    const std::size_t end = (std::size_t{address} + bytes + 3) / 4;
    for (std::size_t at = address / 4; at < end && at < m_words.size(); ++at) {
      const Copy& copy = m_words[at];
      if (copy.group != 0 && copy.group >= m_threads[copy.thread].arrived) return &copy;
    }
    return nullptr;
  }

 private:
  // Groups below `arrived` are there; copies join group `open`.
  struct Groups {
    std::uint32_t open = 1, arrived = 1;
  };

  Groups& state_of(std::uint32_t thread) {
    if (thread >= m_threads.size()) m_threads.resize(thread + 1);
    return m_threads[thread];
  }

  std::vector<Copy> m_words;  // by word of shared memory
  std::vector<Groups> m_threads;
};

}  // namespace cudaopt::sim
