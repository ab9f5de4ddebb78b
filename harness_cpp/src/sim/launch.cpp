#include "sim/launch.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "sim/printed_text.hpp"
#include "sim/residents.hpp"
#include "sim/worker.hpp"

namespace cudaopt::sim {
namespace {

// Hands out blocks in order and keeps the failure of the lowest one. Blocks below a failed one have
// all been handed out before it, so whoever runs them finishes them.
class BlockQueue {
 public:
  explicit BlockQueue(std::uint64_t count) : m_end(count) {}

  // The next block, or `end()`.
  [[nodiscard]] std::uint64_t take() {
    const std::uint64_t block = m_next.fetch_add(1, std::memory_order_relaxed);
    return std::min(block, m_end.load(std::memory_order_relaxed));
  }
  [[nodiscard]] bool is_end(std::uint64_t block) const {
    return block >= m_end.load(std::memory_order_relaxed);
  }

  void fail(std::uint64_t block, std::exception_ptr error) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (m_error != nullptr && block > m_failed) return;
    m_failed = block;
    m_error = std::move(error);
    m_end.store(std::min(m_end.load(), block), std::memory_order_relaxed);
  }

  // What later blocks have printed depends on who was how fast.
  void rethrow(PrintedText* printed) const {
    if (m_error == nullptr) return;
    if (printed != nullptr) printed->forget_after(m_failed);
    std::rethrow_exception(m_error);
  }

 private:
  std::atomic<std::uint64_t> m_next{0}, m_end;
  std::mutex m_mutex;
  std::uint64_t m_failed = 0;
  std::exception_ptr m_error;
};

void work(BlockQueue& queue, Worker& worker,
          const std::function<void(Worker&, std::uint64_t)>& run) {
  for (std::uint64_t block = queue.take(); !queue.is_end(block); block = queue.take()) {
    try {
      run(worker, block);
    } catch (...) {  // carried to the launching thread, whatever it is
      worker.keep_printed();
      queue.fail(block, std::current_exception());
      return;
    }
  }
}

}  // namespace

Counters for_each_block(Launch& launch, RunSlice run_slice, unsigned threads, std::uint64_t count,
                        const std::function<void(Worker&, std::uint64_t)>& run) {
  const std::uint64_t useful = launch.program->ordered || launch.watch != nullptr
                                   ? 1
                                   : std::min<std::uint64_t>(threads, count);
  BlockQueue queue(count);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint64_t i = 0; i < useful; ++i) {
    workers.push_back(std::make_unique<Worker>(launch, run_slice));
  }
  std::vector<std::thread> others;
  try {
    for (std::size_t i = 1; i < workers.size(); ++i) {
      others.emplace_back(work, std::ref(queue), std::ref(*workers[i]), std::cref(run));
    }
  } catch (const std::system_error&) {
    // No more threads on this machine: those there are take all blocks, with the same results.
  }
  work(queue, *workers[0], run);
  for (std::thread& thread : others) thread.join();
  queue.rethrow(launch.printed);
  Counters total;
  for (const auto& worker : workers) total.add(worker->take_counters());
  return total;
}

Counters run_launch(Launch& launch, RunSlice run_slice, unsigned threads) {
  if (launch.program->ordered || launch.order.kind != Order::Kind::forward) {
    return Residents(launch, run_slice).run();
  }
  return for_each_block(launch, run_slice, threads, launch.grid.count(),
                        [](Worker& worker, std::uint64_t block) { worker.run(block); });
}

}  // namespace cudaopt::sim
