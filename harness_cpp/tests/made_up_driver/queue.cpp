#include "queue.hpp"

#include <algorithm>
#include <utility>

namespace made_up {
namespace {

constexpr std::size_t kMostQueued = 1023;

std::vector<std::unique_ptr<Stream>>& streams() {
  static std::vector<std::unique_ptr<Stream>> all;
  return all;
}

Stream& default_stream() {
  for (const auto& stream : streams())
    if (stream->gpu == current_gpu() && stream->waits_for_null_stream) return *stream;
  return *make_stream(true);
}

template <class Predicate>
Result drain_where(Predicate wanted) {
  for (const auto& stream : streams()) {
    if (stream->gpu != current_gpu() || !wanted(*stream)) continue;
    if (const Result result = drain(*stream); result != kSuccess) return result;
  }
  return current_gpu()->sticky;
}

}  // namespace

Stream* make_stream(bool waits_for_null_stream) {
  auto stream = std::make_unique<Stream>();
  stream->gpu = current_gpu();
  stream->waits_for_null_stream = waits_for_null_stream;
  streams().push_back(std::move(stream));
  return streams().back().get();
}

void destroy(Stream* stream) {
  const auto is_it = [stream](const auto& one) { return one.get() == stream; };
  streams().erase(std::remove_if(streams().begin(), streams().end(), is_it), streams().end());
}

void destroy_all_streams() { streams().clear(); }

Result enqueue(Stream* stream, Work work) {
  Stream& target = stream != nullptr ? *stream : default_stream();
  if (target.capture) {
    target.capture->work.push_back(std::move(work));
    return kSuccess;
  }
  target.queued.push_back(std::move(work));
  return target.queued.size() > kMostQueued ? drain(target) : kSuccess;
}

Result drain(Stream& stream) {
  const std::vector<Work> now = std::exchange(stream.queued, {});
  for (const Work& work : now) {
    if (stream.gpu->sticky != kSuccess) break;
    stream.gpu->sticky = work();
  }
  return stream.gpu->sticky;
}

Result drain_for_null_stream() {
  return drain_where([](const Stream& stream) { return stream.waits_for_null_stream; });
}

Result drain_all() {
  return drain_where([](const Stream&) { return true; });
}

}  // namespace made_up
